import { join } from 'node:path';
import knexFactory, { type Knex } from 'knex';
import { createSqliteConfig } from '../../../src/lib/node-sqlite/node-sqlite.ts';
import { afterFile, temporaryFolder } from '../../support/engines.ts';

/** A statement's wait for a lock: longer than a busy machine holds up the process that has it. */
export const BUSY_MS = 10_000;

/** A database of notes. */
export interface Notes {
  readonly knex: Knex;
  /** Their texts, read by the prepared statement. */
  read(): Promise<string[]>;
  /** Adds notes by the writing thread; gives their ids. */
  add(...texts: (string | null)[]): Promise<string[]>;
}

export const notesFile = (): string => join(temporaryFolder(), 'notes.sqlite');

/** Opens the notes of a file, and makes their table when it is missing; closed after the test file. */
export async function openNotes(filename: string, acquireMs = 2500): Promise<Notes> {
  const log = { warn() {}, error() {} };
  const knex = knexFactory({ ...createSqliteConfig({ filename, busyMs: BUSY_MS, acquireMs }), log });
  afterFile(() => knex.destroy());
  await knex.raw('CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)');
  return {
    knex,
    read: async () => {
      const rows: { text: string }[] = await knex.client.queryPrepared('SELECT text FROM notes ORDER BY id', []);
      return rows.map(({ text }) => text);
    },
    add: (...texts) =>
      knex.client.insertPrepared(
        { table: 'notes', columns: ['text'] },
        texts.map((text) => [text]),
      ),
  };
}
