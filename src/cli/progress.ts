const BAR_MIN = 10;
const BAR_MAX = 30;
const REDRAW_MS = 100;
const LINE_MS = 5000;
/** A terminal that does not tell its width. */
const COLUMNS_FALLBACK = 80;

/**
 * Tells how far a long work on `total` things, called `noun`, is: a bar on a terminal, a line every few seconds elsewhere. The
 * clock starts now.
 */
export function createProgress(total: number, noun: string, stream: NodeJS.WriteStream = process.stdout) {
  const startedAt = performance.now();
  let saidAt = startedAt;

  const describe = (done: number): string => {
    const seconds = (performance.now() - startedAt) / 1000;
    const rate = Math.round(done / seconds);
    const left = rate > 0 ? Math.ceil((total - done) / rate) : 0;
    return `${format(done)} of ${format(total)} ${noun}, ${format(rate)}/s, ${left} s left`;
  };
  /** One line that leaves the last column free: a terminal that wraps would keep what a redraw cannot reach. */
  const line = (done: number): string => {
    const columns = (stream.columns || COLUMNS_FALLBACK) - 1;
    const text = describe(done);
    const width = Math.min(BAR_MAX, columns - text.length - '[] '.length);
    return (width < BAR_MIN ? text : `[${bar(done / total, width)}] ${text}`).slice(0, columns);
  };

  return {
    report(done: number): void {
      const now = performance.now();
      if (now - saidAt < (stream.isTTY ? REDRAW_MS : LINE_MS)) return;
      saidAt = now;
      stream.write(stream.isTTY ? `\r${line(done)}\u001B[K` : `${describe(done)}\n`);
    },
    end(done: number): void {
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      stream.write(`${stream.isTTY ? '\r\u001B[K' : ''}${format(done)} ${noun} added in ${seconds} s.\n`);
    },
  };
}

function bar(part: number, width: number): string {
  return '#'.repeat(Math.round(part * width)).padEnd(width);
}

function format(count: number): string {
  return count.toLocaleString('en');
}
