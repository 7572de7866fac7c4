/**
 * Throttles `work`: it starts at most once in `periodMs`, and never while it runs. Any other call gets the promise of the last
 * run, with its answer or its error.
 */
export function throttle<Answer>(periodMs: number, work: () => Promise<Answer>): () => Promise<Answer> {
  let last: Promise<Answer> | undefined;
  let nextAt = 0;
  return () => {
    const startedAt = performance.now();
    if (last !== undefined && startedAt < nextAt) return last;
    nextAt = Number.POSITIVE_INFINITY; // no new run while this one is in flight
    last = work().finally(() => {
      nextAt = startedAt + periodMs;
    });
    return last;
  };
}
