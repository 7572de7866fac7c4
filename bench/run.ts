import { spawnSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { HELP, type Options, readOptions, START, UsageError } from './options.ts';
import { dateAndCommit, leaveFirstCore } from './processes.ts';
import { countWrong, toMarkdown } from './report.ts';

const RESULTS = join(import.meta.dirname, 'RESULTS.md');

try {
  const words = process.argv.slice(2);
  const options = readOptions(words);
  if (options === undefined) console.log(HELP);
  else await run(options, ['npm run bench', ...(words.length > 0 ? ['--', ...words] : [])].join(' '));
} catch (error) {
  console.error(error instanceof UsageError ? error.message : error);
  process.exit(error instanceof UsageError ? 2 : 1); // at once: servers that still run would keep this process
}

async function run(options: Options, command: string): Promise<void> {
  installComparisons();
  // Only now: these need what was just installed.
  const { startDatabase, useServer } = await import('./database.ts');
  const { measureAll } = await import('./measure.ts');
  const { measureStarts } = await import('./startup.ts');
  const cores = availableParallelism(); // before this process is bound to one of them
  const isPinned = !options.unpinned && leaveFirstCore();
  const startTimes = options.workloads.includes(START) ? await measureStarts(options.starts, note) : undefined;
  const database = options.url === undefined ? await startDatabase() : await useServer(options.url);
  const measurements = await measureAll(options, database, note);
  await database.close();
  const surroundings = describeSurroundings(database.version, cores, isPinned);
  const markdown = toMarkdown({ options, command, surroundings, measurements, startTimes });
  process.stdout.write(markdown);
  if (options.isFull) writeFileSync(RESULTS, markdown);
  if (countWrong(measurements) > 0) process.exitCode = 1;
}

/** Progress goes to standard error: standard output is the report alone. */
function note(line: string): void {
  console.error(line);
}

/** The comparisons' packages are the benchmark's own: installed when it first runs, and after a change of the lockfile. */
function installComparisons(): void {
  const folder = import.meta.dirname;
  const lockfile = statSync(join(folder, 'package-lock.json'));
  const installed = join(folder, 'node_modules/.package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= lockfile.mtimeMs) return;
  note('Installing the comparisons …');
  const { status } = spawnSync('npm', ['ci', '--silent'], { cwd: folder, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('npm ci in bench/ failed.');
}

function describeSurroundings(databaseVersion: string, cores: number, isPinned: boolean): string[] {
  const memoryGiB = Math.round(totalmem() / 2 ** 30);
  const pinning = isPinned
    ? 'the server on core 0, the database and the load generator on core 1'
    : 'server, database and load generator share them as the system likes';
  return [
    dateAndCommit(),
    `${cores} cores of ${cpus()[0]?.model ?? 'unknown'}, ${memoryGiB} GiB; ${pinning}`,
    `Node ${process.version}, ${/mariadb/i.test(databaseVersion) ? 'MariaDB' : 'MySQL'} ${databaseVersion}, 100,000 animals, 10 connections to the database each`,
  ];
}
