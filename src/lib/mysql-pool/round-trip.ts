/** Length of a window, in ms. A measurement counts in its window and the next one, because the server may change. */
const WINDOW_MS = 30_000;

/**
 * Measures the round trip to a server as the shortest recent time, as TCP Vegas does: load only makes times longer,
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

/** A measured round trip, as `createRoundTrip` makes it. */
export type RoundTrip = ReturnType<typeof createRoundTrip>;
