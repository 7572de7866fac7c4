import { statSync } from 'node:fs';
import type { Config } from '../config.ts';
import { connectDatabase, type Database } from '../database/connect.ts';
import { migrateUp } from '../database/migrations.ts';
import { UsageError } from '../failure.ts';

/**
 * Opens the database, brings its schema up to date if the configuration allows, and closes it afterwards. Throws
 * UsageError for `sqlite::memory:`, which no other process sees.
 */
export async function withDatabase<T>(config: Config, work: (database: Database) => Promise<T>): Promise<T> {
  if (config.inMemory) throw new UsageError('sqlite::memory: ends with its process: a command cannot reach it.');
  const database = connectDatabase(config);
  try {
    await database.ping();
    if (config.migrateOnStart) await migrateUp(database);
    return await work(database);
  } finally {
    await database.close();
  }
}

/** The file of `sqlite:PATH`; undefined for another engine and for `sqlite::memory:`. */
export function databaseFile({ databaseUrl, inMemory }: Pick<Config, 'databaseUrl' | 'inMemory'>): string | undefined {
  return databaseUrl.startsWith('sqlite:') && !inMemory ? databaseUrl.slice('sqlite:'.length) : undefined;
}

/** The database for a command that changes nothing: a missing or empty file is replaced by a database in memory. */
export function openToLook(config: Config): { database: Database; exists: boolean } {
  const file = databaseFile(config);
  const found = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  const exists = file === undefined || (found !== undefined && !(found.isFile() && found.size === 0));
  return { database: connectDatabase(exists ? config : { ...config, databaseUrl: 'sqlite::memory:' }), exists };
}

const COLUMNS_MAX = 80;
const GAP = '  ';

/** Prints rows as aligned columns. Cells of `cutColumn` are cut so that a line has 80 columns; a code point counts as one. */
export function printTable(rows: readonly (readonly string[])[], cutColumn?: number): void {
  const length = (cell = '') => [...cell].length;
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => length(row[column]))));
  if (cutColumn !== undefined) {
    const excess = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - COLUMNS_MAX;
    widths[cutColumn] = Math.max(1, (widths[cutColumn] ?? 0) - Math.max(0, excess));
  }
  const fit = (cell: string, column: number) => {
    const width = widths[column] ?? 0;
    const isTooLong = length(cell) > width;
    return isTooLong ? `${[...cell].slice(0, width - 1).join('')}…` : cell + ' '.repeat(width - length(cell));
  };
  for (const row of rows) console.log(row.map(fit).join(GAP).trimEnd());
}

/** What a name of a key may not hold: control, format (bidirectional ones too), private and unassigned characters, line ends. */
export const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/** The name of a key for a terminal: one that was stored by other means may hold what a terminal obeys. */
export function visibleName(name: string): string {
  return name.replace(new RegExp(UNPRINTABLE, 'gu'), (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
