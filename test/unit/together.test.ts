import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shareReads } from '../../src/database/batching/together.ts';
import { createWaitingLine, type TravelRules } from '../../src/database/batching/waiting-line.ts';
import { deadlineIn } from '../../src/deadline.ts';

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

const NEAR = { wayMs: () => 0 };
const FAR = { wayMs: () => 20 };

/** A store whose queries answer when the test says so, each with what it was when they began; near unless said otherwise. */
function slowStore(rules: Omit<TravelRules<Question>, 'wayMs'>, way = NEAR) {
  const store = { version: 0, underWay: [] as Query[], queries: 0, mostUnderWay: 0, largestBatch: 0 };
  const ask = shareReads<Question, Answer>(
    String,
    (questions) => {
      const query = { ...Promise.withResolvers<readonly Answer[]>(), questions, version: store.version };
      store.underWay.push(query);
      store.queries++;
      store.mostUnderWay = Math.max(store.mostUnderWay, store.underWay.length);
      store.largestBatch = Math.max(store.largestBatch, questions.length);
      return query.promise;
    },
    { ...rules, ...way },
  );
  const read = (question: Question, waitMs = 60_000) => ask(question, deadlineIn(waitMs));
  const end = async (index: number, error?: Error) => {
    const [query] = store.underWay.splice(index % Math.max(store.underWay.length, 1), 1);
    if (error) query?.reject(error);
    else query?.resolve(query.questions.map((question) => ({ question, version: query.version })));
    await turn();
  };
  /** Until `count` queries are sent in all: at the latest when those who wait are out of patience. */
  const sent = async (count: number) => {
    while (store.queries < count) await turn();
  };
  return { store, read, end, sent };
}

type Step =
  | { do: 'read'; question: Question }
  | { do: 'write' }
  | { do: 'turn' }
  | { do: 'answer' | 'fail'; index: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('read' as const), question: fc.nat({ max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('write' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('turn' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('answer' as const), index: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const), index: fc.nat() }) },
);
const rules = fc.record({
  underWay: fc.integer({ min: 1, max: 3 }),
  sideBySide: fc.integer({ min: 1, max: 3 }),
  batch: fc.constantFrom(1, 2, 4),
  groupOf: fc.constantFrom(
    () => '',
    (question: Question) => String(question % 2),
  ),
});

describe('shareReads', () => {
  test('answers each read, right and never older than the read, within its limits', async () => {
    await fc.assert(
      fc.asyncProperty(rules, fc.array(step, { maxLength: 60 }), async (bounds, steps) => {
        const { store, read, end } = slowStore(bounds);
        const failure = new Error('the database is away');
        const reads: Promise<unknown>[] = [];
        const check = async (question: Question, askedAt: number) => {
          const [outcome] = await Promise.allSettled([read(question)]);
          if (outcome.status === 'rejected') return expect(outcome.reason).toBe(failure);
          expect(outcome.value.question).toBe(question);
          expect(outcome.value.version).toBeGreaterThanOrEqual(askedAt);
        };
        let settled = 0;
        const note = () => {
          settled++;
        };
        for (const action of steps) {
          if (action.do === 'read') reads.push(check(action.question, store.version).finally(note));
          else if (action.do === 'write') store.version++;
          else if (action.do === 'turn') await turn();
          else await end(action.index, action.do === 'fail' ? failure : undefined);
        }
        while (settled < reads.length) await end(0); // hangs when a read was forgotten
        await Promise.all(reads);
        expect(store.mostUnderWay).toBeLessThanOrEqual(bounds.underWay);
        expect(store.largestBatch).toBeLessThanOrEqual(bounds.batch);
      }),
    );
  });

  test('what comes in one turn travels together, equal reads once', async () => {
    const { store, read, end, sent } = slowStore({ underWay: 4, sideBySide: 4, batch: 4 });
    const reads = [1, 2, 1, 3, 1, 4].map((question) => read(question));
    await sent(1);
    expect(store.underWay.map(({ questions }) => questions)).toEqual([[1, 2, 3, 4]]);
    await end(0);
    expect((await Promise.all(reads)).map(({ question }) => question)).toEqual([1, 2, 1, 3, 1, 4]);
  });

  test('of a store that is far, a few are asked without waiting for the turn, those of one moment together', async () => {
    const { store, read, end } = slowStore({ underWay: 20, sideBySide: 20, batch: 8 }, FAR);
    const reads: Promise<Answer>[] = [];
    for (const moment of [[0], [1, 2], [3, 4], [5], [6, 7, 8, 9], [10, 11]]) {
      reads.push(...moment.map((question) => read(question)));
      await Promise.resolve();
    }
    expect(store.underWay.map(({ questions }) => questions)).toEqual([[0], [1, 2], [3, 4], [5], [6, 7, 8, 9]]);
    await turn();
    expect(store.underWay.slice(5).map(({ questions }) => questions)).toEqual([[10, 11]]);
    while (store.underWay.length > 0) await end(0);
    await Promise.all(reads);
  });

  test('a query that does not answer holds nobody else: what comes later goes beside it', async () => {
    const { store, read, end, sent } = slowStore({ underWay: 3, sideBySide: 1, batch: 8 });
    const stuck = read(1);
    await sent(1);
    const later = read(2);
    await sent(2);
    await end(1);
    expect(await later).toEqual({ question: 2, version: 0 });
    expect(store.underWay.map(({ questions }) => questions)).toEqual([[1]]);
    await end(0);
    await stuck;
  });

  test('a read joins no query that has begun, even an equal one', async () => {
    const { store, read, end, sent } = slowStore({ underWay: 1, sideBySide: 1, batch: 8 });
    const before = read(7);
    await sent(1);
    store.version++;
    const after = read(7);
    await end(0);
    await sent(2);
    await end(0);
    expect(await before).toEqual({ question: 7, version: 0 });
    expect(await after).toEqual({ question: 7, version: 1 });
  });

  test('an error reaches those whose query it is; who waits is asked for anew', async () => {
    const { read, end, sent } = slowStore({ underWay: 1, sideBySide: 1, batch: 2 });
    const first = Promise.allSettled([1, 1, 2].map((question) => read(question)));
    await sent(1);
    const next = read(3);
    const failure = new Error('the database is away');
    await end(0, failure);
    expect(await first).toEqual(Array(3).fill({ status: 'rejected', reason: failure }));
    await sent(2);
    await end(0);
    expect(await next).toEqual({ question: 3, version: 0 });
  });

  test('each is told at their own deadline, sent or not; the others get their answer', async () => {
    const { read, end, sent } = slowStore({ underWay: 1, sideBySide: 1, batch: 1 });
    const patient = read(1);
    const hurried = read(1, 100);
    await sent(1);
    const unsent = read(2, 100);
    for (const late of [hurried, unsent]) await expect(late).rejects.toMatchObject({ meaning: 'unavailable' });
    await end(0);
    expect(await patient).toEqual({ question: 1, version: 0 });
  });

  test('a statement that is refused for one question is taken apart, and only that one is refused', async () => {
    const refused = new Error('data too long');
    const asked: number[][] = [];
    const ask = shareReads<number, number>(
      String,
      async (questions) => {
        asked.push([...questions]);
        if (questions.includes(5)) throw refused;
        return questions;
      },
      { ...NEAR, underWay: 4, sideBySide: 4, batch: 8, isAboutOne: (error) => error === refused },
    );
    const questions = [0, 1, 2, 3, 4, 5, 6, 7];
    const outcomes = await Promise.allSettled(questions.map((question) => ask(question, deadlineIn())));
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual(questions.map((question) => question !== 5));
    const answered = asked.filter((batch) => !batch.includes(5)).flat();
    expect(answered.toSorted()).toEqual([0, 1, 2, 3, 4, 6, 7]); // none twice
  });

  test('what is left behind has room for others again', () => {
    const line = createWaitingLine<number, number>(String, {
      ...{ ...NEAR, underWay: 1, sideBySide: 1, batch: 8 },
      bytesOf: (kib) => kib * 1024,
    });
    const join = (...kib: number[]) => kib.forEach((each) => void line.join(each, deadlineIn()));
    join(100, 101, 50);
    const [batch] = line.batches();
    expect(batch && line.take(batch)).toHaveLength(2);
    join(99, 98);
    expect(line.batches().map(({ entries }) => entries.size)).toEqual([3]);
  });

  test('a large question shares no statement with others', async () => {
    const { store, read, end, sent } = slowStore({ underWay: 9, sideBySide: 9, batch: 8, bytesOf: (size) => size });
    const reads = [10, 200_000, 20, 200_000, 300_000, 30].map((size) => read(size + Math.random()));
    await sent(2);
    for (const { questions } of store.underWay.slice(0, 2)) {
      expect(questions.length === 1 || questions.reduce((sum, size) => sum + size) <= 256 * 1024).toBe(true);
    }
    while (store.underWay.length > 0) await end(0);
    await Promise.all(reads);
  });
});
