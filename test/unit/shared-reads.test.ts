import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shareReads } from '../../src/pets/shared-reads.ts';

type Question = number;

/** What a query saw: which question it answers, and the state of the store when the query began. */
interface Answer {
  readonly question: Question;
  readonly version: number;
}

interface Query extends PromiseWithResolvers<readonly Answer[]> {
  readonly questions: readonly Question[];
  readonly version: number;
}

/** A store whose queries answer when the test says so, each with what it was when they began. */
function slowStore(limits: { underWay: number; batch: number }) {
  const store = { version: 0, underWay: [] as Query[], queries: 0, mostUnderWay: 0, largestBatch: 0 };
  const read = shareReads<Question, Answer>(
    String,
    (questions) => {
      const query = { ...Promise.withResolvers<readonly Answer[]>(), questions, version: store.version };
      store.underWay.push(query);
      store.queries++;
      store.mostUnderWay = Math.max(store.mostUnderWay, store.underWay.length);
      store.largestBatch = Math.max(store.largestBatch, questions.length);
      return query.promise;
    },
    limits,
  );
  const end = async (index: number, error?: Error) => {
    const [query] = store.underWay.splice(index % Math.max(store.underWay.length, 1), 1);
    if (error) query?.reject(error);
    else query?.resolve(query.questions.map((question) => ({ question, version: query.version })));
    await setImmediate();
  };
  return { store, read, end };
}

type Step = { do: 'read'; question: Question } | { do: 'write' } | { do: 'answer' | 'fail'; index: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('read' as const), question: fc.nat({ max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('write' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('answer' as const), index: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const), index: fc.nat() }) },
);
const limits = fc.record({ underWay: fc.integer({ min: 1, max: 3 }), batch: fc.integer({ min: 1, max: 4 }) });

describe('shareReads', () => {
  test('answers each read, right and never older than the read, within its limits', async () => {
    await fc.assert(
      fc.asyncProperty(limits, fc.array(step, { maxLength: 60 }), async (bounds, steps) => {
        const { store, read, end } = slowStore(bounds);
        const failure = new Error('the database is away');
        const reads: Promise<unknown>[] = [];
        const check = async (question: Question, askedAt: number) => {
          const [outcome] = await Promise.allSettled([read(question)]);
          if (outcome.status === 'rejected') return expect(outcome.reason).toBe(failure);
          expect(outcome.value.question).toBe(question);
          expect(outcome.value.version).toBeGreaterThanOrEqual(askedAt);
        };
        for (const action of steps) {
          if (action.do === 'read') reads.push(check(action.question, store.version));
          else if (action.do === 'write') store.version++;
          else await end(action.index, action.do === 'fail' ? failure : undefined);
        }
        while (store.underWay.length > 0) await end(0);
        await Promise.all(reads); // hangs when a read was forgotten
        expect(store.mostUnderWay).toBeLessThanOrEqual(bounds.underWay);
        expect(store.largestBatch).toBeLessThanOrEqual(bounds.batch);
      }),
    );
  });

  test('alone, a read waits for nobody; beside a query under way, a full one goes', () => {
    const { store, read } = slowStore({ underWay: 2, batch: 2 });
    [1, 2, 3, 4, 5].map(read);
    expect(store.underWay.map((query) => query.questions)).toEqual([[1], [2, 3]]);
  });

  test('a read joins no query that has begun, even an equal one', async () => {
    const { store, read, end } = slowStore({ underWay: 1, batch: 8 });
    const before = read(7);
    store.version++;
    const after = read(7);
    await end(0);
    await end(0);
    expect(await before).toEqual({ question: 7, version: 0 });
    expect(await after).toEqual({ question: 7, version: 1 });
  });

  test('what waits together travels together, equal reads once', async () => {
    const { store, read, end } = slowStore({ underWay: 1, batch: 2 });
    const first = read(0);
    const waiting = [1, 2, 1, 3, 1, 4].map(read);
    await end(0);
    expect(store.underWay.map((query) => query.questions)).toEqual([[1, 2]]);
    await end(0);
    expect(store.underWay.map((query) => query.questions)).toEqual([[3, 4]]);
    await end(0);
    expect((await Promise.all([first, ...waiting])).map((answer) => answer.question)).toEqual([0, 1, 2, 1, 3, 1, 4]);
    expect(store.queries).toBe(3);
  });

  test('an error reaches all who joined and all who wait, and the next read works', async () => {
    const { read, end } = slowStore({ underWay: 1, batch: 2 });
    const outcomes = Promise.allSettled([1, 2, 2, 3, 4].map(read));
    const failure = new Error('the database is away');
    await end(0, failure);
    expect(await outcomes).toEqual(Array(5).fill({ status: 'rejected', reason: failure }));
    const next = read(5);
    await end(0);
    expect(await next).toEqual({ question: 5, version: 0 });
  });
});
