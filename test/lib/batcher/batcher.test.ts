import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createBatcher } from '../../../src/lib/batcher/batcher.ts';
import { deadlineIn } from '../../../src/lib/deadline/deadline.ts';

type Rules = Parameters<typeof createBatcher<number, Answer>>[1];

/** What a statement saw: the input that it answers, and the state of the store when the statement began. */
interface Answer {
  readonly input: number;
  readonly version: number;
}

interface Statement extends PromiseWithResolvers<readonly Answer[]> {
  readonly inputs: readonly number[];
  readonly version: number;
}

const LATE = new Error('late');
const NEAR = { connectionsMax: 10, roundTripMs: () => 0.2, lateError: () => LATE };
const FAR = { ...NEAR, roundTripMs: () => 20 };

/** A store whose statements answer when the test says so, each with what it was when they began. */
function slowStore(rules: Rules, database = NEAR) {
  const store = { version: 0, inFlight: [] as Statement[], sent: 0, mostInFlight: 0, largest: 0 };
  const ask = createBatcher<number, Answer>(database, { keyOf: String, ...rules }, (inputs) => {
    const statement = { ...Promise.withResolvers<readonly Answer[]>(), inputs, version: store.version };
    store.inFlight.push(statement);
    store.sent++;
    store.mostInFlight = Math.max(store.mostInFlight, store.inFlight.length);
    store.largest = Math.max(store.largest, inputs.length);
    return statement.promise;
  });
  const read = (input: number, waitMs = 60_000) => ask(input, deadlineIn(waitMs));
  const end = async (index: number, error?: Error) => {
    const [statement] = store.inFlight.splice(index % Math.max(store.inFlight.length, 1), 1);
    if (error) statement?.reject(Object.assign(error, { inputs: statement.inputs, version: statement.version }));
    else statement?.resolve(statement.inputs.map((input) => ({ input, version: statement.version })));
    await turn();
  };
  /** Until `count` statements are sent in all. */
  const sent = async (count: number) => {
    while (store.sent < count) await turn();
  };
  const inputs = () => store.inFlight.map((statement) => statement.inputs);
  return { store, read, end, sent, inputs };
}

/** The inputs of each batch, as a text. */
const shown = (batches: readonly (readonly number[])[]) =>
  batches.map((batch) => batch.map(Math.floor).join(' ')).join(', ');

type Step = { do: 'read'; input: number } | { do: 'write' } | { do: 'turn' } | { do: 'answer' | 'fail'; index: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('read' as const), input: fc.nat({ max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('write' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('turn' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('answer' as const), index: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const), index: fc.nat() }) },
);
const rules = fc.record(
  {
    inFlight: fc.integer({ min: 1, max: 3 }),
    inFlightMax: fc.integer({ min: 1, max: 8 }),
    aloneMax: fc.constantFrom(1, 2, 6),
    maxSize: fc.constantFrom(1, 2, 4),
    targetSize: fc.constantFrom(1, 2, 8),
    groupOf: fc.constantFrom(
      () => '',
      (input: number) => String(input % 2),
    ),
  },
  { requiredKeys: ['inFlight', 'inFlightMax', 'aloneMax', 'maxSize', 'groupOf'] }, // not `targetSize`
);

/** From now on no statement becomes slow by itself. */
const stopTimers = () => vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
afterEach(() => void vi.useRealTimers());

describe('batches', () => {
  test('answer each read, right and never older than the read, within their limits', async () => {
    await fc.assert(
      fc.asyncProperty(
        rules,
        fc.constantFrom(NEAR, FAR),
        fc.array(step, { maxLength: 60 }),
        async (bounds, database, steps) => {
          const { store, read, end } = slowStore(bounds, database);
          const reads: Promise<unknown>[] = [];
          const check = async (input: number, readAt: number) => {
            const [outcome] = await Promise.allSettled([read(input)]);
            // A statement that fails is told to those whose statement it is.
            const told = outcome.status === 'fulfilled' ? outcome.value : outcome.reason;
            expect(told.inputs ?? [told.input]).toContain(input);
            expect(told.version).toBeGreaterThanOrEqual(readAt);
          };
          let settled = 0;
          const note = () => {
            settled++;
          };
          for (const action of steps) {
            if (action.do === 'read') reads.push(check(action.input, store.version).finally(note));
            else if (action.do === 'write') store.version++;
            else if (action.do === 'turn') await turn();
            else await end(action.index, action.do === 'fail' ? new Error('away') : undefined);
          }
          while (settled < reads.length) await end(0); // hangs when a read was forgotten
          await Promise.all(reads);
          expect(store.mostInFlight).toBeLessThanOrEqual(bounds.inFlightMax);
          expect(store.largest).toBeLessThanOrEqual(bounds.maxSize);
        },
      ),
    );
  });

  test('hold what comes in one turn, equal reads once', async () => {
    const { store, read, end, inputs } = slowStore({ inFlight: 4, maxSize: 4 });
    const reads = [1, 2, 1, 3, 1, 4].map((input) => read(input));
    expect(store.sent).toBe(0);
    await turn();
    expect(inputs()).toEqual([[1, 2, 3, 4]]);
    await end(0);
    expect((await Promise.all(reads)).map(({ input }) => input)).toEqual([1, 2, 1, 3, 1, 4]);
  });

  test.each([
    ['that of the only caller', NEAR, {}, [[1], [2]], [[1]]],
    ['those of few callers', NEAR, { aloneMax: 2 }, [[1], [2], [3]], [[1], [2]]],
    ['those that one task asks, each alone', NEAR, { aloneMax: 2 }, [[1, 2], [3]], [[1], [2]]],
    ['none in a store of this process', { ...NEAR, roundTripMs: () => 0 }, { aloneMax: 9 }, [[1], [2]], []],
  ])('of one input go at the end of its task: %s', async (_which, database, bounds, tasks, sent) => {
    const { read, inputs } = slowStore({ inFlight: 1, maxSize: 4, ...bounds }, database);
    for (const task of tasks) {
      for (const input of task) void read(input, Number.POSITIVE_INFINITY);
      await Promise.resolve();
    }
    expect(inputs()).toEqual(sent);
  });

  test.each<[how: string, settle: (store: ReturnType<typeof slowStore>) => Promise<unknown>]>([
    ['an answer', ({ end }) => end(0)],
    ['an error', ({ end }) => end(0, new Error('away'))],
    ['no time left', ({ read }) => read(3, 20).catch(() => {})],
  ])('have no caller any more who has %s: 10 ms later, the next one is the only one again', async (_what, settle) => {
    const store = slowStore({ inFlight: 2, maxSize: 1 });
    const first = store.read(1, 20).catch(() => {});
    await Promise.resolve();
    await settle(store);
    await first;
    await delay(11);
    const before = store.store.sent;
    void store.read(9, Number.POSITIVE_INFINITY);
    await Promise.resolve();
    expect(store.store.sent).toBe(before + 1);
  });

  test('are alone for no more callers than there are connections', async () => {
    const { read, end, inputs } = slowStore({ inFlight: 1, maxSize: 4, aloneMax: 3 }, { ...NEAR, connectionsMax: 1 });
    for (const input of [1, 2, 3]) {
      void read(input, Number.POSITIVE_INFINITY);
      await Promise.resolve();
    }
    expect(inputs()).toEqual([[1]]);
    await end(0);
    expect(inputs()).toEqual([[2, 3]]);
  });

  test('that come one by one within a turn are shared, all of them in a store of this process', async () => {
    const database = { ...NEAR, roundTripMs: () => 0 };
    const { store, read, end, sent } = slowStore({ inFlight: 1000, maxSize: 1 }, database);
    const wave = async (): Promise<number> => {
      const before = store.sent;
      const reads = [];
      for (let caller = 0; caller < 5; caller++) {
        reads.push(read(7));
        await Promise.resolve();
        if (store.inFlight.length > 0) void end(0); // answered at once, as by a store of this process
        await Promise.resolve();
      }
      await turn();
      while (store.inFlight.length > 0) await end(0);
      await Promise.all(reads);
      return store.sent - before;
    };
    const alone = read(7);
    await sent(1);
    await end(0);
    await alone;
    expect([await wave(), await wave(), await wave()]).toEqual([1, 1, 1]);
  });

  test('hold those who were answered together: they come back together', async () => {
    stopTimers();
    const { store, read, end, inputs } = slowStore({ inFlight: 2, maxSize: 4 });
    const wave = async () => {
      const reads = [1, 2, 3].map((input) => read(input));
      await turn();
      return reads;
    };
    const first = await wave();
    expect(inputs()).toEqual([[1, 2, 3]]);
    await end(0);
    await Promise.all(first);
    const alone = read(4, Number.POSITIVE_INFINITY);
    await Promise.resolve();
    expect(store.sent).toBe(1);
    await turn();
    await end(0);
    await alone;
    vi.advanceTimersByTime(11);
    void read(5, Number.POSITIVE_INFINITY);
    await Promise.resolve();
    expect(store.sent).toBe(3);
  });

  test.each([
    ['near: as many as the rule says, the rest when one of them ends', NEAR, [[1], [2]], [[2], [3, 4]]],
    ['far: as many as there are connections', FAR, [[1], [2], [3], [4]], [[2], [3], [4]]],
  ])('are in flight beside each other: %s', async (_where, database, before, after) => {
    stopTimers();
    const { read, end, inputs } = slowStore({ inFlight: 2, maxSize: 8 }, database);
    const reads: Promise<unknown>[] = [];
    for (const input of [1, 2, 3, 4]) {
      reads.push(read(input));
      await turn();
    }
    expect(inputs()).toEqual(before);
    await end(0);
    await turn();
    expect(inputs()).toEqual(after);
    while (inputs().length > 0) await end(0);
    await Promise.all(reads);
  });

  test.each([
    [10, {}],
    [100, { slowMs: 100 }], // as their rule says, if it is longer
  ])('hold up no other when they have no answer for %i ms: what comes later goes beside them', async (ms, rule) => {
    stopTimers();
    const { read, end, sent, inputs } = slowStore({ inFlight: 1, maxSize: 8, ...rule });
    const stuck = read(1);
    await sent(1);
    const later = read(2);
    await turn();
    vi.advanceTimersByTime(ms - 1);
    await turn();
    expect(inputs()).toEqual([[1]]);
    vi.advanceTimersByTime(1);
    await sent(2);
    await end(1);
    expect(await later).toEqual({ input: 2, version: 0 });
    expect(inputs()).toEqual([[1]]);
    await end(0);
    await stuck;
  });

  test('refuse each waiter at its own deadline, sent or not; the others get their answer', async () => {
    const { store, read, end, sent } = slowStore({ inFlight: 1, inFlightMax: 1, maxSize: 1 });
    const unhurried = read(1);
    const hurried = read(1, 100);
    await sent(1);
    const queued = read(2, 100);
    for (const late of [hurried, queued]) await expect(late).rejects.toBe(LATE);
    await end(0);
    expect(await unhurried).toEqual({ input: 1, version: 0 });
    await turn();
    expect(store.sent).toBe(1);
  });

  test('go on until the latest deadline of those who wait for them', async () => {
    const given: number[] = [];
    const ask = createBatcher<number, number>(
      NEAR,
      { inFlight: 1, maxSize: 8, keyOf: String },
      async (inputs, deadline) => {
        given.push(deadline);
        return inputs;
      },
    );
    const last = deadlineIn(60_000);
    await Promise.all([ask(1, last - 2000), ask(2, last - 1000), ask(1, last), ask(2, last - 3000)]);
    expect(given).toEqual([last]);
  });

  test.each([
    ['no more than their rule says: some go in the next one', 500, [9000, 8400, 8600, 9100, 9150], '0 2 3, 1, 4'],
    ['any when there is no rule', undefined, [9000, 100], '0 1'],
  ])('hold inputs whose deadlines are apart: %s', async (_what, spreadMs, waits, batches) => {
    stopTimers();
    const { read, inputs } = slowStore({ inFlight: 9, maxSize: 8, ...(spreadMs && { spreadMs }) });
    for (const [input, waitMs] of waits.entries()) void read(input, waitMs);
    await turn();
    expect(shown(inputs())).toBe(batches);
  });

  test('that are refused for one input send each alone, and only that one is refused', async () => {
    const refused = new Error('data too long');
    const sent: number[][] = [];
    const ask = createBatcher<number, number>(
      NEAR,
      { inFlight: 2, maxSize: 8, isInputError: (error) => error === refused },
      async (inputs) => {
        sent.push([...inputs]);
        if (inputs.includes(5)) throw refused;
        return inputs;
      },
    );
    const inputs = [0, 1, 2, 3, 4, 5, 6, 6];
    const outcomes = await Promise.allSettled(inputs.map((input) => ask(input, deadlineIn(5000))));
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual(inputs.map((input) => input !== 5));
    expect(sent).toEqual([inputs, ...inputs.map((input) => [input])]);
  });

  test('that are refused for one input send none again for which nobody waits any more', async () => {
    const { store, read, end, sent, inputs } = slowStore({ inFlight: 1, maxSize: 8, isInputError: () => true });
    const late = read(1, 100);
    const kept = read(2);
    await sent(1);
    await expect(late).rejects.toBe(LATE);
    await end(0, new Error('data too long'));
    await sent(2);
    expect(inputs()).toEqual([[2]]);
    await end(0);
    expect(await kept).toEqual({ input: 2, version: 0 });
    expect(store.sent).toBe(2);
  });

  test('whose outcome is unknown are never sent again', async () => {
    const { store, read, end, sent } = slowStore({ inFlight: 1, maxSize: 8, isInputError: () => false });
    const reads = Promise.allSettled([1, 2].map((input) => read(input)));
    await sent(1);
    await end(0, new Error('the connection was lost'));
    expect((await reads).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(store.sent).toBe(1);
  });

  test.each([
    ['as many as a batch may have', '1 1 1 1 1 1 1 1 1', '1 1 1 1 1 1 1 1, 1'],
    ['256 KiB', '100 101 55 99 98', '100 101 55, 99 98'],
    ['one alone that is larger by itself', '1 257 1', '1, 257, 1'],
  ])('hold what is queued, within their bounds: %s', async (_what, kib, batches) => {
    const { read, inputs } = slowStore({ inFlight: 9, maxSize: 8, bytesOf: (input) => Math.floor(input) * 1024 });
    // They never settle: a deadline would reject them while another test of this process runs.
    for (const [index, size] of kib.split(' ').entries())
      void read(Number(size) + index / 100, Number.POSITIVE_INFINITY);
    await turn();
    expect(shown(inputs())).toBe(batches);
  });

  describe('that have a target size', () => {
    const rules = { inFlight: 3, maxSize: 4, targetSize: 2 };
    const ONE = { ...NEAR, connectionsMax: 1 };
    test.each([
      ['go at once when no other is in flight', NEAR, rules, [1], '1'],
      ['are spread over the statements that may go', NEAR, rules, [6], '1 2, 3 4, 5 6'],
      ['are the largest when all of these have enough', NEAR, rules, [12], '1 2 3 4, 5 6 7 8, 9 10 11 12'],
      ['wait beside others until they are full', NEAR, rules, [1, 1], '1'],
      ['go beside others when they are full', NEAR, rules, [1, 2], '1, 2 3'],
      ['are the largest when the last statement that may go has enough', NEAR, rules, [4, 4], '1 2, 3 4, 5 6 7 8'],
      ['are the largest on a single connection', ONE, rules, [5], '1 2 3 4'],
      ['are no larger than a batch may be', NEAR, { ...rules, maxSize: 1 }, [2], '1, 2'],
      ['wait for nothing a network away', FAR, rules, [1, 1, 3], '1, 2, 3 4 5'],
    ])('%s', async (_what, database, given, turns, sent) => {
      stopTimers();
      const { read, inputs } = slowStore(given, database);
      let last = 0;
      for (const count of turns) {
        for (let asked = 0; asked < count; asked++) void read(++last, Number.POSITIVE_INFINITY);
        await turn();
      }
      expect(shown(inputs())).toBe(sent);
    });

    test('go with the end of another, and when it has had no answer for 10 ms', async () => {
      stopTimers();
      const { read, end, sent, inputs } = slowStore(rules);
      for (const input of [1, 2]) {
        void read(input, Number.POSITIVE_INFINITY);
        await turn();
      }
      await end(0);
      expect(inputs()).toEqual([[2]]);
      void read(3, Number.POSITIVE_INFINITY);
      await turn();
      vi.advanceTimersByTime(10);
      await sent(3);
      expect(inputs()).toEqual([[2], [3]]);
    });
  });
});
