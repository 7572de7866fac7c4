/** A measurement counts for one to two windows, in ms: the database's address may move. */
const WINDOW_MS = 30_000;

/**
 * Measures the round trip to a database: the shortest recent time, as in TCP Vegas, because load makes the others longer,
 * https://doi.org/10.1145/190314.190317
 */
export function createRoundTrip() {
  let shortest = Number.POSITIVE_INFINITY;
  let shortestBefore = Number.POSITIVE_INFINITY;
  let since = performance.now();
  return {
    /** The round trip in ms; 0 before the first measurement. */
    ms(): number {
      const ms = Math.min(shortest, shortestBefore);
      return ms === Number.POSITIVE_INFINITY ? 0 : ms;
    },
    /** Runs `work`, one round trip, and measures its time unless it fails. */
    async measure<Result>(work: () => PromiseLike<Result>): Promise<Result> {
      const begunAt = performance.now();
      const result = await work();
      const now = performance.now();
      if (now - since > WINDOW_MS) {
        shortestBefore = now - since > 2 * WINDOW_MS ? Number.POSITIVE_INFINITY : shortest;
        shortest = Number.POSITIVE_INFINITY;
        since = now;
      }
      shortest = Math.min(shortest, now - begunAt);
      return result;
    },
  };
}
