/** How questions share queries. */
export interface SharingLimits {
  /** Queries under way at once: the first goes at once, another one only when it is full. */
  readonly underWay: number;
  /** Different questions in one query. */
  readonly batch: number;
}

interface Waiting<Question, Answer> extends PromiseWithResolvers<Answer> {
  readonly question: Question;
}

/**
 * Shares reads without ever giving an old answer: a read joins an equal one only while that one still waits to be
 * sent, so every answer is of a query that began after the question came. `ask` answers several questions in one
 * query, in their order; its error reaches all who joined or wait. While no query is under way, nobody waits.
 */
export function shareReads<Question, Answer>(
  keyOf: (question: Question) => string,
  ask: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  limits: SharingLimits,
): (question: Question) => Promise<Answer> {
  const waiting = new Map<string, Waiting<Question, Answer>>();
  let underWay = 0;

  const mayStart = () => {
    const isWorthAnother = underWay < limits.underWay && waiting.size >= limits.batch;
    return waiting.size > 0 && (underWay === 0 || isWorthAnother);
  };

  const send = async (): Promise<void> => {
    // Powers of two: few different texts, so that each stays prepared.
    const size = 2 ** Math.floor(Math.log2(Math.min(waiting.size, limits.batch)));
    const batch = [...waiting.entries().take(size)];
    for (const [key] of batch) waiting.delete(key);
    const readers = batch.map(([, reader]) => reader);
    underWay++;
    try {
      const answers = await ask(readers.map((reader) => reader.question));
      for (const [index, reader] of readers.entries()) reader.resolve(answers[index] as Answer); // one for each question
    } catch (error) {
      // Who still waits has waited for the same database: they are told at once, not after another such wait.
      for (const reader of [...readers, ...waiting.values()]) reader.reject(error);
      waiting.clear();
    }
    underWay--;
    if (mayStart()) send();
  };

  return (question) => {
    const key = keyOf(question);
    const equal = waiting.get(key);
    if (equal !== undefined) return equal.promise;
    const reader = { ...Promise.withResolvers<Answer>(), question };
    waiting.set(key, reader);
    if (mayStart()) send();
    return reader.promise;
  };
}

/** The same for writes: they travel together, but each is one of its own. */
export function sendTogether<Question, Answer>(
  ask: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  limits: SharingLimits,
): (question: Question) => Promise<Answer> {
  let asked = 0;
  return shareReads(() => String(asked++), ask, limits);
}
