import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createConnectionPool } from '../../src/database/mysql/connection-pool.ts';
import { deadlineIn } from '../../src/deadline.ts';

/** A pool of ten whose openings fail, each after its own time in ms. */
function refusingPool(takesMs: (opening: number) => number) {
  let openings = 0;
  const pool = createConnectionPool<object>({
    max: 10,
    openMs: 1000,
    async open() {
      await delay(takesMs(openings++));
      throw new Error('refused');
    },
    replacesOthers: () => false,
    isUsable: () => true,
    end() {},
  });
  return { pool, openings: () => openings };
}

test('all who wait for a server that refuses are told by its first refusals, however these are spread', async () => {
  const { pool, openings } = refusingPool((opening) => 1 + (opening % 10) * 3);
  const startedAt = performance.now();
  const waits = await Promise.allSettled(Array.from({ length: 50 }, () => pool.acquire(deadlineIn(3000))));
  expect(waits.filter(({ status }) => status === 'fulfilled')).toEqual([]);
  expect(waits.map((wait) => wait.status === 'rejected' && wait.reason.message)).toEqual(Array(50).fill('refused'));
  expect(performance.now() - startedAt).toBeLessThan(1500);
  expect(openings()).toBe(10);
  await pool.close();
});

test('who has no time left gets no connection, and spoils none', async () => {
  let ended = 0;
  const pool = createConnectionPool<object>({
    max: 1,
    openMs: 1000,
    open: async () => ({}),
    replacesOthers: () => false,
    isUsable: () => true,
    end: () => void ended++,
  });
  pool.release(await pool.acquire(deadlineIn()));
  await expect(pool.acquire(deadlineIn(-1))).rejects.toMatchObject({ code: 'POOL_TIMEOUT' });
  expect([pool.state(), ended]).toEqual([{ used: 0, free: 1, waiting: 0 }, 0]);
  await pool.close();
});

describe('whose a connection is', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  });
  afterEach(() => void vi.useRealTimers());

  /** A pool whose openings take so many ms each, and fail where that is told; its connections are called `1`, `2` and so on. */
  function poolOf(max: number, openings: readonly { ms: number; fails?: boolean; replaces?: boolean }[] = []) {
    const ended: string[] = [];
    const broken = new Set<string>();
    let opened = 0;
    const pool = createConnectionPool<{ name: string }>({
      max,
      openMs: 1000,
      async open() {
        const { ms, fails } = openings[opened++] ?? { ms: 1 };
        const name = String(opened);
        await new Promise((resolve) => setTimeout(resolve, ms));
        if (fails) throw new Error(`refused ${name}`);
        return { name };
      },
      replacesOthers: ({ name }) => openings[Number(name) - 1]?.replaces === true,
      isUsable: ({ name }) => !broken.has(name),
      end: ({ name }) => void ended.push(name),
    });
    /** Asks for a connection; what it got, or why not. */
    const ask = (ms = 60_000) => {
      const asked: { got?: { name: string }; refusal?: string } = {};
      void pool.acquire(deadlineIn(ms)).then(
        (connection) => {
          asked.got = connection;
        },
        (error: Error) => {
          asked.refusal = error.message;
        },
      );
      return asked;
    };
    const giveBack = ({ got }: ReturnType<typeof ask>) => pool.release(got as { name: string }); // where it is there
    return { pool, ask, giveBack, ended, broken };
  }
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

  test('one that nobody has used for half a minute is ended, one that was used since is not', async () => {
    const { pool, ask, giveBack, ended } = poolOf(2);
    const [first, second] = [ask(), ask()];
    await pass(10);
    for (const asked of [first, second]) giveBack(asked);
    await pass(20_000);
    const again = ask();
    await pass(0);
    giveBack(again);
    await pass(25_000);
    expect(ended).toEqual(['1']);
    expect(pool.state().free).toBe(1);
    await pass(15_000);
    expect(ended).toEqual(['1', '2']);
  });

  test('one whose opening was given up is ended when it comes', async () => {
    const { pool, ask, ended } = poolOf(1, [{ ms: 2000 }]);
    const late = ask();
    await pass(1000);
    expect(late.refusal).toMatch('no connection could be opened in time');
    await pass(1000);
    expect([ended, pool.state()]).toEqual([['1'], { used: 0, free: 0, waiting: 0 }]);
  });

  test('when all are abandoned, one in use is ended after its use, one that is being opened when it comes', async () => {
    const { pool, ask, giveBack, ended } = poolOf(2, [{ ms: 1 }, { ms: 50 }]);
    const first = ask();
    await pass(10);
    const second = ask();
    pool.abandon();
    giveBack(first);
    expect(ended).toEqual(['1']);
    await pass(100);
    expect(ended).toEqual(['1', '2']);
    expect(second.got?.name).toBe('3');
  });

  test('when one comes that replaces the others, those are used no more', async () => {
    const { ask, giveBack, ended } = poolOf(2, [{ ms: 1 }, { ms: 50, replaces: true }]);
    const first = ask();
    await pass(10);
    const second = ask();
    giveBack(first);
    await pass(100);
    expect(second.got?.name).toBe('1');
    giveBack(second);
    const third = ask();
    await pass(0);
    expect([ended, third.got?.name]).toEqual([['1'], '2']);
  });

  test('a broken one is ended and replaced, and what is given back twice is there once', async () => {
    const { pool, ask, giveBack, ended, broken } = poolOf(1);
    const first = ask();
    await pass(10);
    const second = ask();
    broken.add('1');
    giveBack(first);
    await pass(200);
    expect([ended, second.got?.name]).toEqual([['1'], '2']);
    for (let times = 1; times <= 2; times++) giveBack(second);
    expect(pool.state()).toEqual({ used: 0, free: 1, waiting: 0 });
  });

  test('a failed opening refuses those who waited for it, not those who came later, and nobody while one is in use', async () => {
    const late = poolOf(1, [{ ms: 200, fails: true }]);
    const [waited] = [late.ask(), await pass(150)];
    const came = late.ask();
    await pass(100);
    expect([waited.refusal, came.got?.name]).toEqual(['refused 1', '2']);

    const other = poolOf(2, [
      { ms: 200, fails: true },
      { ms: 900, fails: true },
    ]);
    const [alone] = [other.ask(), await pass(150)];
    const beside = other.ask();
    await pass(60);
    expect([alone.refusal, beside.refusal]).toEqual(['refused 1', undefined]);

    const shared = poolOf(2, [{ ms: 1 }, { ms: 1, fails: true }]);
    const user = shared.ask();
    await pass(10);
    const next = shared.ask();
    await pass(10);
    expect(next).toEqual({});
    shared.giveBack(user);
    await pass(0);
    expect(next.got?.name).toBe('1');
  });

  test('closing waits for those who use or wait, then ends all; nobody gets one any more', async () => {
    const { pool, ask, giveBack, ended } = poolOf(1);
    const first = ask();
    await pass(10);
    const [second, third] = [ask(), ask(100)];
    let isClosed = false;
    void pool.close().then(() => {
      isClosed = true;
    });
    const fourth = ask();
    await pass(200);
    expect([fourth.refusal, third.refusal]).toEqual([
      'the database has been closed',
      'no connection to the database came free in time',
    ]);
    giveBack(first);
    await pass(0);
    expect([isClosed, second.got?.name, ended]).toEqual([false, '1', []]);
    giveBack(second);
    await pass(0);
    expect([isClosed, ended]).toEqual([true, ['1']]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test('a pool that is closed while it opens ends what comes of it, and waits for that', async () => {
  const slow = Promise.withResolvers<object>();
  const ended: object[] = [];
  const pool = createConnectionPool<object>({
    max: 1,
    openMs: 60_000,
    open: () => slow.promise,
    replacesOthers: () => false,
    isUsable: () => true,
    end: (connection) => void ended.push(connection),
  });
  await expect(pool.acquire(deadlineIn(20))).rejects.toMatchObject({ code: 'POOL_TIMEOUT' });
  const closing = pool.close();
  await expect(pool.acquire(deadlineIn())).rejects.toMatchObject({ code: 'POOL_CLOSED' });
  slow.resolve({});
  await closing;
  expect(ended).toHaveLength(1);
});
