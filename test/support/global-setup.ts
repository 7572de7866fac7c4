import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { endWithUs } from './end-with-us.ts';
import { hasMysqlServer, startMysqlServer } from './mysql-server.ts';

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
  const isFast = project.vitest.projects.every(({ name }) => name === 'fast');
  const { url, remove } = isFast ? NO_SERVER : await mysqlServer();
  project.provide('mysqlUrl', url);
  return async () => {
    await remove();
    rmSync(folder, { recursive: true, force: true });
    dismiss();
  };
}

/** `npm run test:fast` is on SQLite alone. */
const NO_SERVER = { url: '', remove: async () => {} };

/** The server of TEST_MYSQL_URL, a private one, or none, which is said loudly. */
async function mysqlServer(): Promise<{ url: string; remove: () => Promise<void> }> {
  const given = process.env.TEST_MYSQL_URL;
  if (given) return { url: given, remove: async () => {} };
  if (hasMysqlServer()) return startMysqlServer();
  if (process.env.CI === 'true') throw new Error('the MySQL half needs mariadbd or mysqld, or TEST_MYSQL_URL');
  const warn = async () =>
    console.warn('\n!!! The MySQL half did NOT run: install mariadb-server, or set TEST_MYSQL_URL. !!!\n');
  await warn();
  return { url: '', remove: warn }; // at the end, too, where it is seen
}
