import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import { isFirstCoreLeft, ROOT } from './processes.ts';

const cores = availableParallelism(); // before this process is bound to one of them

/** How a report begins: the call that made it, when, of which commit, on which machine, and with what besides Node. */
export function madeBy(databases: string): string {
  const placing = isFirstCoreLeft()
    ? 'the server on core 0, the database and the load generator on core 1'
    : 'server, database and load generator share them as the system likes';
  return [
    `Made by \`${ownCommand()}\`.\n`,
    `- ${dateAndCommit()}`,
    `- ${cores} cores of ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB; ${placing}`,
    `- Node ${process.version}, ${databases}`,
  ].join('\n');
}

function ownCommand(): string {
  const [, script = '', ...words] = process.argv;
  const path = relative(ROOT, script);
  if (path !== 'bench/run.ts') return ['node', path, ...words].join(' ');
  return ['npm run bench', ...(words.length > 0 ? ['--', ...words] : [])].join(' ');
}

/** When a report is made, and of which commit. */
export function dateAndCommit(): string {
  const { stdout } = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: ROOT, encoding: 'utf8' });
  return `${new Date().toISOString().slice(0, 10)}, commit ${stdout?.trim() || 'unknown'}`;
}

/** Prints a report. Only one of a whole run takes the place of the file `name`. */
export function writeReport(name: string, markdown: string, isWhole: boolean): void {
  process.stdout.write(markdown);
  if (isWhole) writeFileSync(join(import.meta.dirname, name), markdown);
  else console.error(`${name} stays as it is: this was not a whole run.`);
}
