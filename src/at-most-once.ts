/**
 * Wraps `work` so that it starts at most once in `periodMs`. A call within the period, or while `work` runs, gets the
 * promise of the last run: its answer or its error.
 */
export function atMostOnce<Answer>(periodMs: number, work: () => Promise<Answer>): () => Promise<Answer> {
  let last: Promise<Answer> | undefined;
  let nextAt = 0;
  return () => {
    const startedAt = performance.now();
    if (last !== undefined && startedAt < nextAt) return last;
    nextAt = Number.POSITIVE_INFINITY; // while it runs
    last = work().finally(() => {
      nextAt = startedAt + periodMs;
    });
    return last;
  };
}
