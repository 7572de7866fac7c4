import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
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

test('an opening that is never done has its place only for a while; what comes of it later is ended', async () => {
  const late = Promise.withResolvers<object>();
  const ended: object[] = [];
  let openings = 0;
  const pool = createConnectionPool<object>({
    max: 1,
    openMs: 20,
    open: () => (openings++ === 0 ? late.promise : Promise.resolve({})),
    replacesOthers: () => false,
    isUsable: () => true,
    end: (connection) => void ended.push(connection),
  });
  await expect(pool.acquire(deadlineIn(60_000))).rejects.toMatchObject({ code: 'POOL_TIMEOUT' });
  const connection = await pool.acquire(deadlineIn(60_000));
  const tooLate = {};
  late.resolve(tooLate);
  await late.promise;
  expect(ended[0]).toBe(tooLate);
  pool.release(connection);
  await pool.close();
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
