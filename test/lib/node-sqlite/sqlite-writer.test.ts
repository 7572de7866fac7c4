import { renameSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { prepareFiles } from '../../../src/lib/node-sqlite/sqlite-files.ts';
import { createSqliteWriter } from '../../../src/lib/node-sqlite/sqlite-writer.ts';
import { BUSY_MS, notesFile } from './notes.ts';

/** The thread that writes, for a file with a table of notes. */
function createNotes() {
  const filename = notesFile();
  const files = prepareFiles(filename);
  const connection = new DatabaseSync(filename);
  connection.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)');
  const writes = createSqliteWriter({ files, busyMs: BUSY_MS });
  const close = async () => {
    await writes.close();
    connection.close();
  };
  const insert = (...rows: (string | null)[][]) => writes.insert({ table: 'notes', columns: ['text'] }, rows);
  return { filename, connection, insert, close };
}

test('writes at once are each told their own ids, and closing waits for all of them', async () => {
  const { insert, close } = createNotes();
  const told = Promise.allSettled([insert(['one'], ['two']), insert([null]), insert(['three'])]);
  await close();
  expect(await told).toEqual([
    { status: 'fulfilled', value: ['1', '2'] },
    { status: 'rejected', reason: expect.objectContaining({ code: 'ERR_SQLITE_ERROR' }) },
    { status: 'fulfilled', value: ['3'] },
  ]);
});

test('after a thread that could not begin, the next write has a new one', async () => {
  const { filename, insert, close } = createNotes();
  renameSync(filename, `${filename}.away`);
  await expect(insert(['one'])).rejects.toThrow('the write was cut off');
  renameSync(`${filename}.away`, filename);
  expect(await insert(['two'])).toEqual(['1']);
  await close();
});

test.each(['removed', 'replaced'])(
  'a write whose file is %s while it waits for a lock is not acknowledged',
  async (how) => {
    const { filename, connection, insert, close } = createNotes();
    expect(await insert(['one'])).toEqual(['1']); // the thread has begun
    connection.exec('BEGIN IMMEDIATE');
    const told = expect(insert(['two'])).rejects.toMatchObject({ errcode: 1032 });
    await delay(100); // by then it has looked at the files, and waits; on a busy machine it may look later, and refuses as well
    renameSync(filename, `${filename}.away`);
    if (how === 'replaced') new DatabaseSync(filename).close();
    connection.exec('ROLLBACK');
    await told;
    await close();
  },
);
