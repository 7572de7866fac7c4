import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { endWithUs } from './end-with-us.ts';
import { prepareData, startMysqlServer } from './mysql-server.ts';
import { has, readLeftOut, serverPath, unwantedTools } from './tools.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The server of the MySQL half, or an empty text when there is none. */
    mysqlUrl: string;
    /** The folder of the run, where its temporary folders are. */
    folder: string;
  }
}

/** One folder and one MySQL server for the whole run; nothing of either stays. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-test-'));
  const dismiss = endWithUs({ folder });
  project.provide('folder', folder);
  // A program that starts hundreds of times is compiled once: each one inherits this, or is given it by name.
  process.env.NODE_COMPILE_CACHE ??= join(folder, 'compiled');
  const leftOut = join(folder, 'left-out');
  process.env.TEST_LEFT_OUT = leftOut;
  const unwanted = unwantedTools();
  const needsNone = project.vitest.projects.every(({ name }) => ['quick', 'compose'].includes(name));
  const { url, remove } = needsNone ? NO_SERVER : await mysqlServer(folder);
  project.provide('mysqlUrl', url);
  return async () => {
    await remove();
    const lacking = readLeftOut(leftOut);
    const { CI_LEFT_OUT } = process.env; // of all runs of .ci/run
    if (CI_LEFT_OUT) for (const line of lacking) appendFileSync(CI_LEFT_OUT, `${line}\n`);
    rmSync(folder, { recursive: true, force: true });
    dismiss();
    if (unwanted.length > 0) warn('What needs these did NOT run: TEST_WITHOUT is set', unwanted);
    if (lacking.length > 0) warn('What needs these did NOT run: they are not here. What brings them', lacking);
  };
}

function warn(what: string, tools: readonly string[]): void {
  console.warn([`\n!!! ${what}:`, ...tools].join('\n!!!   '));
}

/** Without one the tests run on SQLite alone, as those of `npm run test:fast` do; docker compose brings its own. */
const NO_SERVER = { url: '', remove: async () => {} };

/** The server of TEST_MYSQL_URL, a private one, or none. */
async function mysqlServer(folder: string): Promise<{ url: string; remove: () => Promise<void> }> {
  if (unwantedTools().includes('database')) return NO_SERVER;
  if (serverPath() !== undefined) process.env.TEST_MYSQL_DATA = prepareData(join(folder, 'mysql'));
  const given = process.env.TEST_MYSQL_URL;
  if (given) return { url: given, remove: async () => {} };
  return has('database') ? startMysqlServer() : NO_SERVER;
}
