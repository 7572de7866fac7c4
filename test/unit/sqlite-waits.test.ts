import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { connectDatabase } from '../../src/gateway/database/connect.ts';
import { ANSWER_MS } from '../../src/gateway/deadlines.ts';
import { checkWrites } from '../../src/gateway/store/write-check.ts';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';
import { afterFile, temporaryFolder } from '../support/engines.ts';

afterEach(() => void vi.useRealTimers());

const database = await connectDatabase({ databaseUrl: 'sqlite::memory:', databasePoolMax: 1 });

describe('work on SQLite', () => {
  afterFile(() => database.close());
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  test('that is not done at its deadline is told to be unavailable, with time left for the answer', async () => {
    const deadline = deadlineIn(ANSWER_MS + 20);
    const late = database.run(() => sleep(ANSWER_MS), { deadline });
    await expect(late).rejects.toMatchObject({ meaning: 'unavailable', cause: { code: 'POOL_TIMEOUT' } });
  });

  test('without a deadline has the time that it takes', async () => {
    expect(await database.run(() => sleep(20).then(() => 'done'))).toBe('done');
  });

  test('that is done in time leaves no timer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    expect(await database.run(async () => 'done', { deadline: deadlineIn(5000) })).toBe('done');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is unavailable when the one connection is closed', async () => {
    const other = await connectDatabase({ databaseUrl: 'sqlite::memory:', databasePoolMax: 1 });
    await other.close();
    const closed = { meaning: 'unavailable' };
    await expect(other.run((knex) => knex.raw('SELECT 1'))).rejects.toMatchObject(closed);
    await expect(other.query('SELECT 1', [], undefined)).rejects.toMatchObject(closed);
    await expect(other.insert('pets (name)', [['Rex']], undefined)).rejects.toMatchObject(closed);
  });
});

test('a database file is told to take no writes by the deadline while another process writes', async () => {
  const path = join(temporaryFolder(), 'store.sqlite');
  const database = await connectDatabase({ databaseUrl: `sqlite:${path}`, databasePoolMax: 1 });
  await database.ping();
  using other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  const late = checkWrites(database, [], { deadline: deadlineIn(ANSWER_MS + 20) });
  await expect(late).rejects.toMatchObject({ meaning: 'unavailable', cause: { code: 'POOL_TIMEOUT' } });
  // SQLITE_BUSY, though Knex gives a transaction whose BEGIN failed.
  await expect(checkWrites(database, [])).rejects.toMatchObject({ meaning: 'unavailable', cause: { errcode: 5 } });
  await database.close();
});
