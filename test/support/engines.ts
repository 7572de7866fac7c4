import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import { describe, inject } from 'vitest';

/** A database engine that the suites run against. */
export interface TestEngine {
  readonly name: 'sqlite' | 'mysql';
  /** The address of an empty database that is removed after the test file. */
  freshDatabase(): Promise<string>;
}

const cleanups: (() => unknown)[] = [];

/** Runs `cleanup` after the test file, the last one first. */
export function afterFile(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}

/** Runs them, to the last one; rejects with what failed first. */
export async function cleanUpAfterFile(): Promise<void> {
  const failures: unknown[] = [];
  for (const cleanup of cleanups.splice(0).reverse()) {
    try {
      await cleanup();
    } catch (error) {
      failures.push(error); // the others must end all the same
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** A folder with these files that is removed after the test file. */
export function temporaryFolder(files: Readonly<Record<string, string | Buffer>> = {}): string {
  const folder = mkdtempSync(join(inject('folder'), 'folder-'));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** For tests of which no engine is the subject. */
export const SQLITE: TestEngine = {
  name: 'sqlite',
  freshDatabase: async () => `sqlite:${join(temporaryFolder(), 'petstore.sqlite')}`,
};

let databases = 0;

const mysqlEngine: TestEngine = {
  name: 'mysql',
  async freshDatabase() {
    const url = inject('mysqlUrl');
    const connection = await mysql.createConnection(url);
    const name = `petstore_test_${process.pid}_${++databases}_${Date.now()}`;
    try {
      await connection.query(`CREATE DATABASE ${name}`);
    } catch (error) {
      if (!isDenied(error)) throw error;
      // An account of one database only: that one is emptied, so a file has one MySQL gateway at a time.
      await dropTables(connection);
      return url;
    } finally {
      await connection.end();
    }
    afterFile(async () => {
      const again = await mysql.createConnection(url);
      await again.query(`DROP DATABASE IF EXISTS ${name}`);
      await again.end();
    });
    return url.replace(/\/[^/]*$/, `/${name}`);
  },
};

function isDenied(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ER_DBACCESS_DENIED_ERROR';
}

async function dropTables(connection: mysql.Connection): Promise<void> {
  const [rows] = await connection.query<mysql.RowDataPacket[]>('SHOW TABLES');
  for (const row of rows) await connection.query(`DROP TABLE \`${Object.values(row)[0]}\``);
}

/** Whether there is a server; none in a plain script, such as the fault table, which vitest does not run. */
const hasMysql = process.env.VITEST !== undefined && inject('mysqlUrl') !== '';

/** The engines of this run: SQLite always, MySQL where there is a server. */
export const ENGINES: readonly TestEngine[] = hasMysql ? [SQLITE, mysqlEngine] : [SQLITE];

/** Runs the same tests on each engine: `mysql › listPets › …`. */
export function describeEachEngine(body: (engine: TestEngine) => void): void;
export function describeEachEngine(name: string, body: (engine: TestEngine) => void): void;
export function describeEachEngine(name: string | ((engine: TestEngine) => void), body?: (engine: TestEngine) => void) {
  for (const engine of ENGINES) {
    describe(engine.name, () => {
      if (typeof name === 'function') name(engine);
      else describe(name, () => body?.(engine));
    });
  }
}

/** Runs tests on MySQL alone, `mysql › …`; without a server they are skipped. */
export function describeOnMysql(name: string, body: (engine: TestEngine) => void): void {
  describe.runIf(hasMysql)(`mysql › ${name}`, () => body(mysqlEngine));
}
