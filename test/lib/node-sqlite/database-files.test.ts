import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import knexFactory from 'knex';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createSqliteConfig, peekSqlite } from '../../../src/lib/node-sqlite/node-sqlite.ts';
import { KNOWS_NOOP } from '../../../src/lib/node-sqlite/sqlite-connection.ts';
import { afterFile } from '../../support/engines.ts';
import { eventually, succeeds } from '../../support/load.ts';
import { BUSY_MS, notesFile, openNotes } from './notes.ts';

const MOVED = { errcode: 1032 };
const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);

/** The modes of all in the folder of a file, by name. */
function modesBeside(filename: string): Record<string, string> {
  const folder = dirname(filename);
  return Object.fromEntries(readdirSync(folder).map((name) => [name, modeOf(join(folder, name))]));
}

describe('files', () => {
  test('that are new are for their owner only, and so is their folder', async () => {
    const filename = join(dirname(notesFile()), 'deep', 'data', 'notes.sqlite');
    await openNotes(filename);
    expect(modesBeside(filename)).toEqual({
      'notes.sqlite': '600',
      'notes.sqlite-shm': '600',
      'notes.sqlite-wal': '600',
    });
    expect(modeOf(dirname(filename))).toBe('700');
  });

  test('that were there before keep their modes', async () => {
    const filename = join(dirname(notesFile()), 'shared', 'notes.sqlite');
    mkdirSync(dirname(filename));
    writeFileSync(filename, '');
    chmodSync(filename, 0o664);
    chmodSync(dirname(filename), 0o2775);
    await openNotes(filename);
    expect(new Set(Object.values(modesBeside(filename)))).toEqual(new Set(['664']));
    expect(modeOf(dirname(filename))).toBe('2775');
  });

  test('that cannot be made are told as fs tells it', async () => {
    const filename = notesFile();
    writeFileSync(filename, '');
    await expect(openNotes(join(filename, 'notes.sqlite'))).rejects.toMatchObject({ code: 'EEXIST' });
  });

  test('are looked at without a trace: the log, too, is read when there is one', async () => {
    const filename = notesFile();
    const peek = () =>
      peekSqlite(filename, BUSY_MS, (database) => database.prepare('SELECT count(*) AS notes FROM notes').get());
    const { knex, add } = await openNotes(filename);
    await add('one');
    expect(peek()).toEqual({ notes: 1 });
    await knex.destroy();
    expect(peek()).toEqual({ notes: 1 });
    expect(readdirSync(dirname(filename))).toEqual(['notes.sqlite']);
  });
});

describe('the log', () => {
  test('is cut when a long reader has gone', async () => {
    const filename = notesFile();
    const { add } = await openNotes(filename);
    const logBytes = () => statSync(`${filename}-wal`).size;
    const reader = new DatabaseSync(filename);
    reader.exec('BEGIN; SELECT * FROM notes');
    await add(...Array(100).fill('x'.repeat(200_000)));
    await add('one');
    const grown = logBytes();
    reader.close();
    await add('two'); // writes the log to the database
    await add('three'); // begins it anew
    expect(grown).toBeGreaterThan(20_000_000);
    expect(logBytes()).toBeLessThan(9_000_000);
  });

  test.each([
    ['write', 'is removed'],
    ['read', 'is removed'],
    ['write', 'is removed, and another process has opened the file'],
    ['read', 'is removed, and another process has opened the file'],
  ])('is written to the file at the next %s when it %s', async (next, what) => {
    const filename = notesFile();
    const { add, read } = await openNotes(filename);
    await add('one');
    await read();
    await delay(300); // until a read looks again
    rmSync(`${filename}-wal`);
    if (what !== 'is removed') writeFileSync(`${filename}-wal`, ''); // as SQLite opens it
    await expect(next === 'write' ? add('two') : read()).rejects.toMatchObject(MOVED);
    const copy = notesFile();
    copyFileSync(filename, copy); // as a process that is killed leaves it
    const texts = peekSqlite(copy, BUSY_MS, (database) => database.prepare('SELECT text FROM notes').all());
    expect(texts).toEqual([{ text: 'one' }]);
  });

  test.runIf(KNOWS_NOOP)('that is cut takes no more writes, and soon no reads', async () => {
    const filename = notesFile();
    const { add, read } = await openNotes(filename);
    await add(...Array(20).fill('x'.repeat(4000)));
    truncateSync(`${filename}-wal`, statSync(`${filename}-wal`).size / 2);
    await expect(add('behind the gap')).rejects.toMatchObject(MOVED);
    await eventually(async () => !(await succeeds(read())), 10_000, 'reads are refused');
  });
});

test('a file that was emptied takes no more writes, and soon no reads', async () => {
  const filename = notesFile();
  const { add, read } = await openNotes(filename);
  await add('one');
  expect(await read()).toEqual(['one']);
  truncateSync(filename, 0);
  await expect(add('two')).rejects.toMatchObject(MOVED);
  await eventually(async () => !(await succeeds(read())), 10_000, 'reads are refused');
});

describe('a file that goes away', () => {
  afterEach(() => void vi.useRealTimers());

  test('before the first read: it is read when it is back', async () => {
    const filename = notesFile();
    const { read } = await openNotes(filename);
    renameSync(filename, `${filename}.away`);
    await expect(read()).rejects.toMatchObject(MOVED);
    renameSync(`${filename}.away`, filename);
    expect(await read()).toEqual([]);
  });

  test('is missed by every read, not only by the one that notices it', async () => {
    const filename = notesFile();
    const { read } = await openNotes(filename);
    expect(await read()).toEqual([]);
    renameSync(filename, `${filename}.away`);
    await eventually(async () => !(await succeeds(read())), 5000, 'it is noticed');
    expect(await Promise.all([succeeds(read()), succeeds(read())])).toEqual([false, false]);
    renameSync(`${filename}.away`, filename);
    expect(await read()).toEqual([]);
  });

  test('after the first read of a young process is noticed by the next look', async () => {
    const filename = notesFile();
    vi.useFakeTimers({ toFake: ['performance'] }); // its time begins with 0
    const knex = knexFactory(createSqliteConfig({ filename, busyMs: BUSY_MS, acquireMs: 2500 }));
    afterFile(() => knex.destroy());
    const read = () => knex.client.queryPrepared('SELECT 1 AS one', []); // not after a write, which looks too
    expect(await read()).toEqual([{ one: 1 }]);
    rmSync(`${filename}-wal`);
    vi.advanceTimersByTime(300);
    await expect(read()).rejects.toMatchObject(MOVED);
  });

  test('is missed when it is the log of one that was opened by a link', async () => {
    const target = notesFile();
    const link = join(dirname(target), 'link.sqlite');
    writeFileSync(target, '');
    symlinkSync(target, link);
    const { knex } = await openNotes(link);
    renameSync(`${target}-wal`, `${target}-wal.away`);
    await expect(knex('notes').first()).rejects.toMatchObject(MOVED);
    renameSync(`${target}-wal.away`, `${target}-wal`);
    expect(await knex('notes').first()).toBeUndefined();
  });

  test('during a write: the write is not acknowledged', async () => {
    const filename = notesFile();
    const { knex } = await openNotes(filename);
    const connection: DatabaseSync = await knex.client.acquireConnection();
    connection.function('moved', () => renameSync(filename, `${filename}.away`) ?? 'Rex');
    knex.client.releaseConnection(connection);
    await expect(knex.raw('INSERT INTO notes (text) VALUES (moved())')).rejects.toMatchObject(MOVED);
  });
});
