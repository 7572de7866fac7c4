/**
 * `work`, run at most once in `periodMs` for all callers: who calls meanwhile gets the answer, or the error, of the run
 * before, and one that takes longer is waited for by all.
 */
export function atMostOnce<Answer>(
  periodMs: number,
  work: () => Promise<Answer>,
  clock: () => number = performance.now.bind(performance),
): () => Promise<Answer> {
  let last: Promise<Answer> | undefined;
  let isRunning = false;
  let startedAt = 0;
  return () => {
    const now = clock();
    if (last !== undefined && (isRunning || now - startedAt < periodMs)) return last;
    isRunning = true;
    startedAt = now;
    last = work().finally(() => {
      isRunning = false;
    });
    return last;
  };
}
