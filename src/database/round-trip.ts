/** How long a time counts, in ms, or up to twice as long: the database's address may move. */
const WINDOW_MS = 30_000;

/**
 * The round trip to a database: the shortest time of late, because load makes the others longer, as in TCP Vegas,
 * https://doi.org/10.1145/190314.190317
 */
export function createRoundTrip() {
  let shortest = Number.POSITIVE_INFINITY;
  let shortestBefore = Number.POSITIVE_INFINITY;
  let since = performance.now();
  return {
    /** In ms; 0 as long as nothing was measured. */
    ms(): number {
      const ms = Math.min(shortest, shortestBefore);
      return ms === Number.POSITIVE_INFINITY ? 0 : ms;
    },
    /** What `work` gives; its time counts unless it fails. */
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
