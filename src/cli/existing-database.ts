import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from '../config.ts';
import { connectDatabase, type Database } from '../database/connect.ts';
import { checkWrites } from '../store/store.ts';
import type { Table } from '../store/table.ts';

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

/** Whether the database takes writes to a table, as `checkWrites` finds out. Throws what a write would throw. */
export async function probeWrite(database: Database, config: Config, table: Table): Promise<void> {
  const file = databaseFile(config);
  if (file !== undefined) for (const path of [file, dirname(file)]) accessSync(path, constants.W_OK);
  await checkWrites(database, [table]);
}
