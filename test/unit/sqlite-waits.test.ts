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

  test('that is done in time leaves no timer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    expect(await database.run(async () => 'done', { deadline: deadlineIn(5000) })).toBe('done');
    expect(vi.getTimerCount()).toBe(0);
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
