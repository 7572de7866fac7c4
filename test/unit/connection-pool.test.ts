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
