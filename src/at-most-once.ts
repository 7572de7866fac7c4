/**
 * `work`, run at most once in `periodMs` for all callers: who calls meanwhile gets the answer, or the error, of the run
 * before, and one that takes longer is waited for by all.
 */
export function atMostOnce<Answer>(periodMs: number, work: () => Promise<Answer>): () => Promise<Answer> {
  let last: Promise<Answer> | undefined;
  let isUnderWay = false;
  let startedAt = 0;
  return () => {
    const now = performance.now();
    if (last !== undefined && (isUnderWay || now - startedAt < periodMs)) return last;
    isUnderWay = true;
    startedAt = now;
    last = work().finally(() => {
      isUnderWay = false;
    });
    return last;
  };
}
