import { median } from './statistics.ts';

/** A Markdown table whose columns line up, as the formatter wants it and a terminal shows it best. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map((_, index) => Math.max(3, ...[columns, ...rows].map((row) => row[index]?.length ?? 0)));
  const line = (cells: readonly string[], filler = ' ') =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0, filler)).join(' | ')} |`;
  const ruler = line(
    columns.map(() => ''),
    '-',
  );
  return [line(columns), ruler, ...rows.map((row) => line(row))].join('\n');
}

/** The median of some figures, with the least and the most of them. */
export function withSpread(figures: readonly number[], digits: number): string {
  const write = (value: number) => value.toFixed(digits);
  if (figures.length === 1) return write(median(figures));
  return `${write(median(figures))} (${write(Math.min(...figures))}–${write(Math.max(...figures))})`;
}
