import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { insertRows, openSqlite, retryWhileBusy } from '../../../src/lib/node-sqlite/sqlite-connection.ts';
import { prepareFiles } from '../../../src/lib/node-sqlite/sqlite-files.ts';
import { BUSY_MS, notesFile, openNotes } from './notes.ts';

afterEach(() => void vi.useRealTimers());

describe('a statement that meets the lock of another process', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));

  /** Work that meets an error with this code until so many ms have passed; each try takes 100. */
  const busyFor = (ms: number, errcode: number) => {
    const until = performance.now() + ms;
    let tries = 0;
    const work = () => {
      tries++;
      vi.advanceTimersByTime(100);
      if (performance.now() <= until) throw Object.assign(new Error('not now'), { errcode });
      return 'done';
    };
    return { done: retryWhileBusy(work, BUSY_MS), tries: () => tries };
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

describe('a database file', () => {
  const open = (filename = notesFile()) => openSqlite({ files: prepareFiles(filename), busyMs: BUSY_MS });

  test.each([
    ['journal_mode', 'wal'],
    ['synchronous', 2], // FULL: a commit is on the disk before it is acknowledged
    ['foreign_keys', 1],
    ['journal_size_limit', 8 * 2 ** 20],
  ])('is opened with %s = %s', async (name, value) => {
    using connection = await open();
    expect(Object.values(connection.prepare(`PRAGMA ${name}`).get() ?? {})).toEqual([value]);
  });

  test('is locked from the begin of a transaction on: what it has read is still so when it writes', async () => {
    const filename = notesFile();
    const { knex } = await openNotes(filename);
    using other = new DatabaseSync(filename, { timeout: 0 });
    const begin = () => other.exec('BEGIN IMMEDIATE');
    await knex.transaction(async () => expect(begin).toThrow('database is locked'));
    expect(begin).not.toThrow();
  });

  test('holds nothing of rows that were refused, and what is added after them', async () => {
    using connection = await open();
    connection.exec('CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT NOT NULL)');
    const add = (...names: (string | null)[]) =>
      insertRows(
        connection,
        { table: 'names', columns: ['name'] },
        names.map((name) => [name]),
        BUSY_MS,
      );
    await expect(add('Rex', null)).rejects.toThrow('NOT NULL');
    expect(await add('Ada')).toEqual(['1']);
    expect(connection.prepare('SELECT name FROM names').all()).toEqual([{ name: 'Ada' }]);
  });
});

describe.each(['a file', 'memory'])('a database in %s', (where) => {
  const open = (acquireMs?: number) => openNotes(where === 'memory' ? ':memory:' : notesFile(), acquireMs);

  test('gives 64-bit integers as numbers where they are exact, else as text', async () => {
    const { knex } = await open();
    const ids = ['9223372036854775807', '-9223372036854775808', '9007199254740991', '9007199254740992', '-1'];
    const sql = `SELECT ${ids.map((id, index) => `${id} AS c${index}`).join(', ')}`;
    const exact = [ids[0], ids[1], 9007199254740991, ids[3], -1];
    expect(Object.values((await knex.raw(sql))[0])).toEqual(exact);
    expect(Object.values((await knex.client.queryPrepared(sql, []))[0])).toEqual(exact);
  });

  test('adds rows within a transaction, and forgets them with it', async () => {
    const { knex, read, add } = await open();
    const both = knex.transaction(async ({ client }) => {
      const ids = await client.insertOn(await client.acquireConnection(), { table: 'notes', columns: ['text'] }, [
        ['one'],
        ['two'],
      ]);
      expect(ids).toEqual(['1', '2']);
      throw new Error('undone');
    });
    await expect(both).rejects.toThrow('undone');
    expect(await add('three')).toEqual(['1']);
    expect(await read()).toEqual(['three']);
  });

  test('rolls back a transaction whose COMMIT is refused: what comes next is stored', async () => {
    const { knex, read, add } = await open();
    await knex.raw('CREATE TABLE marks (note INTEGER REFERENCES notes (id) DEFERRABLE INITIALLY DEFERRED)');
    const refused = knex.transaction((transaction) => transaction('marks').insert({ note: 7 }));
    await expect(refused).rejects.toMatchObject({ errcode: 787 }); // SQLITE_CONSTRAINT_FOREIGNKEY
    await knex.transaction((transaction) => transaction('notes').insert({ text: 'one' }));
    await add('two');
    await knex.raw('ROLLBACK'); // nothing is open that it could take back
    expect(await read()).toEqual(['one', 'two']);
    expect(await knex('marks')).toEqual([]);
  });

  test('tells a query whose turn does not come in time', async () => {
    const { knex } = await open(50);
    const held = await knex.transaction();
    expect(knex.client.poolState()).toEqual({ used: 1, free: 0, waiting: 0 });
    await expect(knex('notes').first()).rejects.toMatchObject({ code: 'POOL_TIMEOUT' });
    await held.rollback();
  });

  test('takes nothing once it is closed', async () => {
    const { knex, read, add } = await open();
    await knex.client.preload();
    await knex.destroy();
    await expect(read()).rejects.toMatchObject({ code: 'POOL_CLOSED' });
    await expect(add('one')).rejects.toMatchObject({ code: 'POOL_CLOSED' });
    await expect(knex.raw('SELECT 1')).rejects.toMatchObject({ code: 'POOL_TIMEOUT' });
  });
});

test('a write waits for the lock of another process, and the event loop does not', async () => {
  const filename = notesFile();
  const { knex, add, read } = await openNotes(filename);
  using other = new DatabaseSync(filename);
  other.exec("BEGIN IMMEDIATE; INSERT INTO notes (text) VALUES ('theirs')");
  const own = [add('by the thread'), knex('notes').insert({ text: 'by Knex' })];
  await delay(50); // while both wait
  expect(await read()).toEqual([]);
  other.exec('COMMIT');
  await Promise.all(own);
  expect((await read()).toSorted()).toEqual(['by Knex', 'by the thread', 'theirs']);
});
