import type { ParseArgsOptionsConfig } from 'node:util';
import { readCommandLine, type Words } from '../command-line.ts';
import { type Config, readConfig } from '../config.ts';
import { connectDatabase, type Database } from '../database/connect.ts';
import { migrateUp } from '../database/migrations.ts';
import { loadDotEnv, type UnknownName } from '../dot-env.ts';
import { explainFailure, UsageError } from '../failure.ts';

/** A command of `npm run`. */
export interface Command<Options extends ParseArgsOptionsConfig> {
  /** What `--help` prints. */
  readonly help: string;
  readonly options: Options;
  /** Words that are no options, at most this many. */
  readonly positionals?: number;
  run(input: CommandInput<Options>): Promise<void>;
}

/** The words of a call, and what every command may need. */
export interface CommandInput<Options extends ParseArgsOptionsConfig> extends Omit<Words<Options>, 'help'> {
  readonly config: Config;
  /** Names in `.env` that no setting has. */
  readonly unknownNames: readonly UnknownName[];
}

/**
 * Runs a command with the words of this process, then lets it end: exit code 0, 1 when it failed, 2 when it was
 * called wrongly or the configuration is wrong; a failure is one line on standard error.
 */
export async function runCommand<Options extends ParseArgsOptionsConfig>(command: Command<Options>): Promise<void> {
  let config: Config | undefined;
  try {
    const { values, positionals, help } = readCommandLine(command.options, command.positionals);
    if (help) return console.log(command.help);
    const unknownNames = loadDotEnv();
    config = readConfig();
    await command.run({ values, positionals, config, unknownNames });
  } catch (error) {
    const { line, exitCode } = explainFailure(error, config);
    console.error(line);
    process.exitCode = exitCode;
  }
}

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

/** Prints rows as columns, aligned. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) {
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
}
