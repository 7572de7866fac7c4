import type { ApiName } from './contenders.ts';
import type { Measurement } from './measure.ts';

/** The figures of a measurement that can be compared. */
export type Figure = 'requestsPerSecond' | 'p50Ms' | 'p99Ms' | 'cpuMs' | 'busy' | 'peakMiB';

/** What was measured, but for the contender and the round. */
export interface Place {
  readonly api: ApiName;
  readonly workload: string;
  readonly concurrency: number;
}

/** The middle of `figures`; NaN of none. */
export function median(figures: readonly number[]): number {
  const ascending = figures.toSorted((a, b) => a - b);
  const middle = ascending.length / 2;
  if (Number.isInteger(middle)) return ((ascending[middle - 1] ?? Number.NaN) + (ascending[middle] ?? Number.NaN)) / 2;
  return ascending[Math.floor(middle)] ?? Number.NaN;
}

/** The mean, without the largest quarter: there somebody else was at work, or a compiler. */
export function meanWithoutMost(figures: readonly number[]): number {
  const kept = figures.toSorted((a, b) => a - b).slice(0, Math.ceil(figures.length * 0.75));
  return kept.reduce((sum, one) => sum + one, 0) / kept.length;
}

/** The measurements of one contender at one place, by round. */
export function measurementsOf(all: readonly Measurement[], contender: string, place: Place): Measurement[] {
  return all.filter(
    (one) =>
      one.contender === contender &&
      one.api === place.api &&
      one.workload === place.workload &&
      one.concurrency === place.concurrency,
  );
}

/** One contender's figure to another's: the median of the rounds' ratios, since a round's two were measured together. */
export function ratio(all: readonly Measurement[], figure: Figure, of: string, to: string, place: Place): number {
  const others = measurementsOf(all, to, place);
  const ratios = measurementsOf(all, of, place).flatMap((one) => {
    const other = others.find((candidate) => candidate.round === one.round);
    return other === undefined ? [] : [one[figure] / other[figure]];
  });
  return median(ratios);
}
