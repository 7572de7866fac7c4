import { statSync } from 'node:fs';
import type { ParseArgsOptionsConfig } from 'node:util';
import { type Program, runProgram, UsageError } from '../gateway/command-line.ts';
import type { Config } from '../gateway/config.ts';
import { connectDatabase, type Database } from '../gateway/database/connect.ts';
import { migrateUp, migrationStatus } from '../gateway/database/migrations.ts';

/**
 * `runProgram` for a command. Where nobody takes its output, a new key for example is lost: it says so once, goes on with its work, and
 * its exit code is 1.
 */
export function runCommand<Options extends ParseArgsOptionsConfig>(program: Program<Options>): Promise<void> {
  let isTold = false;
  process.stdout.on('error', ({ message }) => {
    if (!isTold) console.error(`standard output was not taken (${message}): what is done is not told`);
    isTold = true;
    process.exitCode = 1;
  });
  return runProgram(program);
}

/**
 * Runs `work` with the database, migrated when MIGRATE_ON_START is true, and closes the database. Throws UsageError for
 * `sqlite::memory:`, which other processes cannot open.
 */
export async function withDatabase<T>(config: Config, work: (database: Database) => Promise<T>): Promise<T> {
  if (config.inMemory) throw new UsageError('sqlite::memory: ends with its process: a command cannot reach it.');
  const database = await connectDatabase(config);
  try {
    await database.ping();
    await (config.migrateOnStart ? migrateUp : migrationStatus)(database);
    return await work(database);
  } finally {
    await database.close();
  }
}

/** The file of `sqlite:PATH`; undefined for another engine and for `sqlite::memory:`. */
export function databaseFile({ databaseUrl, inMemory }: Pick<Config, 'databaseUrl' | 'inMemory'>): string | undefined {
  return databaseUrl.startsWith('sqlite:') && !inMemory ? databaseUrl.slice('sqlite:'.length) : undefined;
}

/**
 * Runs `work`, which changes nothing, with the database, and closes it. Creates no file: in place of a missing or empty one,
 * `work` gets an empty database in memory, and `exists` is false.
 */
export async function inspectDatabase<T>(
  config: Config,
  work: (database: Database, exists: boolean) => Promise<T>,
): Promise<T> {
  const file = databaseFile(config);
  const found = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  const exists = file === undefined || (found !== undefined && !(found.isFile() && found.size === 0));
  const database = await connectDatabase(exists ? config : { ...config, databaseUrl: 'sqlite::memory:' });
  return work(database, exists).finally(database.close);
}

const COLUMNS_MAX = 80;
const GAP = '  ';

/** Prints rows as aligned columns. Cells of `cutColumn` are cut so that a line has at most 80 code points. */
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

/** Characters that a key's name must not have: control, format (such as bidirectional), private, unassigned, line ends. */
export const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/** A key's name with unprintable characters as `\u{…}`, because a name that was written by SQL may have control codes. */
export function visibleName(name: string): string {
  return name.replace(new RegExp(UNPRINTABLE, 'gu'), (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
