import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from '../config.ts';
import { connectDatabase, type Database } from '../database/connect.ts';
import { columnsOf, insertList, type Table } from '../store/table.ts';

/** The file of `sqlite:PATH`; undefined for another engine and for `sqlite::memory:`. */
export function databaseFile({ databaseUrl, inMemory }: Pick<Config, 'databaseUrl' | 'inMemory'>): string | undefined {
  return databaseUrl.startsWith('sqlite:') && !inMemory ? databaseUrl.slice('sqlite:'.length) : undefined;
}

/** The database for work that only looks: where there is no file, or an empty one, a database in memory takes its place. */
export function openToLook(config: Config): { database: Database; exists: boolean } {
  const file = databaseFile(config);
  const found = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  const exists = file === undefined || (found !== undefined && !(found.isFile() && found.size === 0));
  return { database: connectDatabase(exists ? config : { ...config, databaseUrl: 'sqlite::memory:' }), exists };
}

/**
 * Whether the database takes writes to a table, found out without one: statements that change no row need the same rights
 * and the same writable server. Rolled back, because SQLite notes the last id of a table even so. Throws what a write would throw.
 */
export async function probeWrite(database: Database, config: Config, table: Table): Promise<void> {
  const columns = columnsOf(table).map(({ column }) => column);
  const file = databaseFile(config);
  if (file !== undefined) for (const path of [file, dirname(file)]) accessSync(path, constants.W_OK);
  await database.run(async (knex) => {
    const transaction = await knex.transaction();
    try {
      await transaction.raw(`INSERT INTO ${insertList(table)} SELECT ${columns} FROM ${table.name} WHERE 1 = 0`);
    } finally {
      await transaction.rollback();
    }
  });
}
