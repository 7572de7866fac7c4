import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { type Config, loadDotEnv, readConfig } from '../config.ts';
import { connectDatabase, type Database } from '../database/connect.ts';
import { migrateUp } from '../database/migrations.ts';
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
export interface CommandInput<Options extends ParseArgsOptionsConfig> {
  readonly values: ReturnType<typeof parseArgs<{ options: Options }>>['values'];
  readonly positionals: readonly string[];
  readonly config: Config;
}

/**
 * Runs a command with the words of this process, then lets it end: exit code 0, 1 when it failed, 2 when it was
 * called wrongly or the configuration is wrong; a failure is one line on standard error.
 */
export async function runCommand<Options extends ParseArgsOptionsConfig>(command: Command<Options>): Promise<void> {
  let config: Config | undefined;
  try {
    const { values, positionals } = parseWords(command);
    if (process.argv.slice(2).some((word) => word === '--help' || word === '-h')) return console.log(command.help);
    loadDotEnv();
    config = readConfig();
    await command.run({ values, positionals, config });
  } catch (error) {
    const { line, exitCode } = explainFailure(error, config);
    console.error(line);
    process.exitCode = exitCode;
  }
}

function parseWords<Options extends ParseArgsOptionsConfig>({ options, positionals = 0 }: Command<Options>) {
  const withHelp = { ...options, help: { type: 'boolean' as const, short: 'h' } };
  try {
    const parsed = parseArgs({ options: withHelp, allowPositionals: true });
    const extra = parsed.positionals[positionals];
    if (extra !== undefined) throw new UsageError(`Unknown word "${extra}"; --help shows what is possible.`);
    return parsed as unknown as Pick<CommandInput<Options>, 'values' | 'positionals'>; // parseArgs forgets the generic
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const [sentence] = (error as Error).message.split(/\.\s/); // parseArgs throws Errors of several sentences
    throw new UsageError(`${sentence}; --help shows what is possible.`);
  }
}

/** Opens the database, brings its schema up to date if the configuration allows, and closes it afterwards. */
export async function withDatabase<T>(config: Config, work: (database: Database) => Promise<T>): Promise<T> {
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
