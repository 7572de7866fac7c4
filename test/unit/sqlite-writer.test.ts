import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqlite } from '../../src/gateway/database/sqlite/sqlite-connection.ts';
import { prepareFiles } from '../../src/gateway/database/sqlite/sqlite-files.ts';
import { createSqliteWriter } from '../../src/gateway/database/sqlite/sqlite-writer.ts';
import { temporaryFolder } from '../support/engines.ts';

/** The thread that writes, for a file with a table of notes. */
async function createNotes() {
  const filename = join(temporaryFolder(), 'notes.sqlite');
  const files = prepareFiles(filename);
  const connection = await openSqlite(files);
  connection.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)');
  const writes = createSqliteWriter(files);
  const close = async () => {
    await writes.close();
    connection.close();
  };
  return { filename, insert: (...rows: (string | null)[][]) => writes.insert('notes (text)', rows), close };
}

test('writes at once are each told their own ids, and closing waits for all of them', async () => {
  const { insert, close } = await createNotes();
  const told = Promise.allSettled([insert(['one'], ['two']), insert([null]), insert(['three'])]);
  await close();
  expect(await told).toEqual([
    { status: 'fulfilled', value: ['1', '2'] },
    { status: 'rejected', reason: expect.objectContaining({ code: 'ERR_SQLITE_ERROR' }) },
    { status: 'fulfilled', value: ['3'] },
  ]);
});

test('after a thread that could not begin, the next write has a new one', async () => {
  const { filename, insert, close } = await createNotes();
  renameSync(filename, `${filename}.away`);
  await expect(insert(['one'])).rejects.toThrow('the write was cut off');
  renameSync(`${filename}.away`, filename);
  expect(await insert(['two'])).toEqual(['1']);
  await close();
});
