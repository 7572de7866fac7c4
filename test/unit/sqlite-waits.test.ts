import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { connectDatabase } from '../../src/gateway/database/connect.ts';
import { insertRows, openSqlite, retryWhileBusy } from '../../src/gateway/database/sqlite/sqlite-connection.ts';
import { prepareFiles } from '../../src/gateway/database/sqlite/sqlite-files.ts';
import { ANSWER_MS, BUSY_MS } from '../../src/gateway/deadlines.ts';
import { checkWrites } from '../../src/gateway/store/store.ts';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';
import { afterFile, temporaryFolder } from '../support/engines.ts';

afterEach(() => void vi.useRealTimers());

describe('a statement that meets the lock of another process', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));

  /** Work that meets an error with this code until so many ms have passed; each try takes 100. */
  const busyFor = (ms: number, errcode: number) => {
    const until = performance.now() + ms;
    let tries = 0;
    const done = retryWhileBusy(() => {
      tries++;
      vi.advanceTimersByTime(100);
      if (performance.now() <= until) throw Object.assign(new Error('not now'), { errcode });
      return 'done';
    });
    return { done, tries: () => tries };
  };

  test.each([
    ['is done when the lock is given back in time', BUSY_MS, 5],
    ['so it is with an extended code', BUSY_MS, 5 + 256],
  ])('%s', async (_what, ms, errcode) => {
    expect(await busyFor(ms, errcode).done).toBe('done');
  });

  test('is refused after its time, and any other error at once', async () => {
    const late = busyFor(BUSY_MS + 200, 5);
    await expect(late.done).rejects.toMatchObject({ errcode: 5 });
    const full = busyFor(200, 13);
    await expect(full.done).rejects.toMatchObject({ errcode: 13 });
    expect(full.tries()).toBe(1);
  });
});

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

describe('a database file', () => {
  test.each([
    ['journal_mode', 'wal'],
    ['synchronous', 2], // FULL: a commit is on the disk before it is acknowledged
    ['foreign_keys', 1],
    ['journal_size_limit', 8 * 2 ** 20],
  ])('is opened with %s = %s', async (name, value) => {
    const connection = await openSqlite(prepareFiles(join(temporaryFolder(), 'store.sqlite')));
    expect(Object.values(connection.prepare(`PRAGMA ${name}`).get() ?? {})).toEqual([value]);
    connection.close();
  });

  test('is locked from the begin of a transaction on: what it has read is still so when it writes', async () => {
    const path = join(temporaryFolder(), 'store.sqlite');
    const database = await connectDatabase({ databaseUrl: `sqlite:${path}`, databasePoolMax: 1 });
    const other = await openSqlite(prepareFiles(path));
    const begin = () => other.exec('BEGIN IMMEDIATE');
    await database.run((knex) => knex.transaction(async () => expect(begin).toThrow('database is locked')));
    expect(begin).not.toThrow();
    other.close();
    await database.close();
  });

  test('is told to take no writes by the deadline while another process writes', async () => {
    const path = join(temporaryFolder(), 'store.sqlite');
    const database = await connectDatabase({ databaseUrl: `sqlite:${path}`, databasePoolMax: 1 });
    const other = await openSqlite(prepareFiles(path));
    other.exec('BEGIN IMMEDIATE');
    const late = checkWrites(database, [], deadlineIn(ANSWER_MS + 20));
    await expect(late).rejects.toMatchObject({ meaning: 'unavailable', cause: { code: 'POOL_TIMEOUT' } });
    other.close();
    await database.close();
  });

  test('holds nothing of rows that were refused, and what is added after them', async () => {
    const files = prepareFiles(join(temporaryFolder(), 'store.sqlite'));
    const [connection, other] = [await openSqlite(files), await openSqlite(files)];
    connection.exec('CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT NOT NULL)');
    await expect(insertRows(connection, 'names (name)', [['Rex'], [null]])).rejects.toThrow('NOT NULL');
    expect(await insertRows(connection, 'names (name)', [['Ada']])).toEqual(['1']);
    expect(other.prepare('SELECT name FROM names').all()).toEqual([{ name: 'Ada' }]);
    for (const each of [connection, other]) each.close();
  });

  test('that goes away during a write: the write is not acknowledged', async () => {
    const path = join(temporaryFolder(), 'store.sqlite');
    const database = await connectDatabase({ databaseUrl: `sqlite:${path}`, databasePoolMax: 1 });
    const { client } = database.knex; // Knex types it as any
    const connection = await client.acquireConnection();
    connection.exec('CREATE TABLE names (name TEXT)');
    connection.function('moved', () => renameSync(path, `${path}.away`) ?? 'Rex');
    client.releaseConnection(connection);
    const written = database.run((knex) => knex.raw('INSERT INTO names VALUES (moved())'));
    await expect(written).rejects.toMatchObject({
      cause: { message: expect.stringMatching('was removed or replaced') },
    });
    await database.close();
  });
});
