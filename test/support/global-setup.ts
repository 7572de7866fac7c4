import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { endWithUs } from './end-with-us.ts';
import { leftOut } from './left-out.ts';
import { hasMysqlServer, prepareData, startMysqlServer } from './mysql-server.ts';

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
  const needsNone = project.vitest.projects.every(({ name }) => ['quick', 'compose'].includes(name));
  const { url, remove } = needsNone ? NO_SERVER : await mysqlServer(folder);
  project.provide('mysqlUrl', url);
  const parts = leftOut();
  if (parts.length > 0) warn(`what needs a ${parts.join(' or a ')} did NOT run: TEST_WITHOUT is set`);
  return async () => {
    await remove();
    rmSync(folder, { recursive: true, force: true });
    dismiss();
    for (const line of warnings) console.warn(line); // once more at the end, where it is seen
  };
}

const warnings: string[] = [];

function warn(what: string): void {
  const line = `\n!!! ${what} !!!\n`;
  warnings.push(line);
  console.warn(line);
}

/** Without one the tests run on SQLite alone, as those of `npm run test:fast` do; docker compose brings its own. */
const NO_SERVER = { url: '', remove: async () => {} };

/** The server of TEST_MYSQL_URL, a private one, or none, which is said loudly. */
async function mysqlServer(folder: string): Promise<{ url: string; remove: () => Promise<void> }> {
  if (leftOut().includes('database')) return NO_SERVER;
  if (hasMysqlServer()) process.env.TEST_MYSQL_DATA = prepareData(join(folder, 'mysql'));
  const given = process.env.TEST_MYSQL_URL;
  if (given) return { url: given, remove: async () => {} };
  if (hasMysqlServer()) return startMysqlServer();
  if (process.env.CI === 'true') throw new Error('the MySQL half needs mariadbd or mysqld, or TEST_MYSQL_URL');
  warn('the MySQL half did NOT run: install mariadb-server, or set TEST_MYSQL_URL');
  return NO_SERVER;
}
