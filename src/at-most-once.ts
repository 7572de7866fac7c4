/**
 * Wraps `work` so that it starts at most once in `periodMs`. A call within the period, or while `work` runs, gets the
 * promise of the last run: its answer or its error.
 */
export function atMostOnce<Answer>(periodMs: number, work: () => Promise<Answer>): () => Promise<Answer> {
  let last: Promise<Answer> | undefined;
  let isRunning = false;
  let startedAt = 0;
  return () => {
    const now = performance.now();
    if (last !== undefined && (isRunning || now - startedAt < periodMs)) return last;
    isRunning = true;
    startedAt = now;
    last = work().finally(() => {
      isRunning = false;
    });
    return last;
  };
}
