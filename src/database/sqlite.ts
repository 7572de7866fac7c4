import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
// Knex publishes its dialects by path; its better-sqlite3 dialect has the synchronous shape of node:sqlite.
import BetterSqlite3Client from 'knex/lib/dialects/better-sqlite3/index.js';
import { ConfigError } from '../config.ts';
import type { Binding } from './prepared.ts';

/** How long a statement waits for another process's write, in ms: at first blocking, then without. */
const BUSY_BLOCKING_MS = 50;
const BUSY_TIMEOUT_MS = 2000;
const BUSY_RETRY_MS = 20;
/** How long a query waits for those before it, in ms. */
const ACQUIRE_TIMEOUT_MS = 2500;
/** The primary result code, https://www.sqlite.org/rescode.html#busy */
const SQLITE_BUSY = 5;

/** Knex settings for `sqlite:PATH` or `sqlite::memory:`. Throws ConfigError when the folder cannot be made. */
export function createSqliteClient(databaseUrl: string): Knex.Config {
  const path = databaseUrl.slice('sqlite:'.length);
  const filename = path === ':memory:' ? path : resolve(path);
  if (filename !== ':memory:') makeFolder(dirname(filename));
  return {
    client: NodeSqliteClient,
    connection: { filename },
    useNullAsDefault: true,
    // One connection: node:sqlite is synchronous, a second one could only wait for the first.
    pool: { min: 1, max: 1, idleTimeoutMillis: 2 ** 31 - 1, acquireTimeoutMillis: ACQUIRE_TIMEOUT_MS },
    acquireConnectionTimeout: ACQUIRE_TIMEOUT_MS,
  };
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new ConfigError(`DATABASE_URL: the folder ${folder} cannot be made: ${(error as Error).message}`); // fs throws Errors
  }
}

/** One query on its way through Knex: what `_query` reads and fills. */
interface KnexQuery {
  sql: string;
  bindings?: readonly unknown[];
  response?: unknown;
  context?: { lastID: string; changes: number };
}

const NOTHING_CHANGED = { lastInsertRowid: '0', changes: 0 };

/** Knex on node:sqlite. 64-bit integers come back as decimal text, as mysql2 gives them here. */
class NodeSqliteClient extends BetterSqlite3Client {
  override _driver(): typeof DatabaseSync {
    return DatabaseSync;
  }

  override async acquireRawConnection(): Promise<DatabaseSync> {
    const connection = new DatabaseSync(this.connectionSettings.filename, { timeout: BUSY_BLOCKING_MS });
    // The busy timeout does not cover the change of mode, when two processes begin a new file at once.
    await whenFree(() => connection.exec('PRAGMA journal_mode = WAL'));
    // FULL: a commit is on the disk before it is acknowledged, https://www.sqlite.org/pragma.html#pragma_synchronous
    connection.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;');
    return connection;
  }

  override async _query(connection: DatabaseSync, query: KnexQuery): Promise<KnexQuery> {
    // A transaction that reads first and writes later fails when another process wrote in between;
    // IMMEDIATE waits at its begin instead, https://www.sqlite.org/lang_transaction.html
    const sql = query.sql === 'BEGIN;' ? 'BEGIN IMMEDIATE' : query.sql;
    // Some faults, such as a full disk, are rolled back by SQLite itself: then there is nothing to roll back any more.
    if (/^ROLLBACK;?$/.test(sql) && !connection.isTransaction)
      return Object.assign(query, { response: NOTHING_CHANGED });
    const statement = prepare(connection, sql);
    const bindings = (query.bindings ?? []).map(toSqliteValue);
    if (statement.columns().length > 0) {
      query.response = await whenFree(() => readRows(statement, bindings));
    } else {
      const { lastInsertRowid, changes } = await whenFree(() => statement.run(...bindings));
      query.response = { lastInsertRowid: String(lastInsertRowid), changes: Number(changes) };
      query.context = { lastID: String(lastInsertRowid), changes: Number(changes) };
    }
    return query;
  }

  /** The rows of a prepared statement, kept for the next time. */
  queryPrepared(sql: string, bindings: readonly Binding[]): Promise<unknown[]> {
    return this.#usePrepared(sql, (statement) => readRows(statement, bindings.map(toSqliteValue)));
  }

  /** The ids that one prepared INSERT gives its rows: here it is always one row. */
  insertPrepared(into: string, rows: readonly (readonly Binding[])[]): Promise<string[]> {
    const sql = `INSERT INTO ${into} VALUES ${rows.map((row) => `(${row.map(() => '?').join(', ')})`).join(', ')}`;
    return this.#usePrepared(sql, (statement) => [
      String(statement.run(...rows.flat().map(toSqliteValue)).lastInsertRowid),
    ]);
  }

  readonly #prepared = new Map<string, StatementSync>();

  async #usePrepared<Result>(sql: string, use: (statement: StatementSync) => Result): Promise<Result> {
    const connection: DatabaseSync = await this.acquireConnection();
    try {
      const statement = this.#prepared.get(sql) ?? prepare(connection, sql);
      this.#prepared.set(sql, statement);
      return await whenFree(() => use(statement));
    } finally {
      this.releaseConnection(connection);
    }
  }
}

function prepare(connection: DatabaseSync, sql: string): StatementSync {
  const statement = connection.prepare(sql);
  statement.setReadBigInts(true);
  return statement;
}

/** Does `work`, and again while another process writes: its lock must not stop the event loop. */
async function whenFree<Result>(work: () => Result): Promise<Result> {
  for (const deadline = performance.now() + BUSY_TIMEOUT_MS; ; await delay(BUSY_RETRY_MS)) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
    }
  }
}

/** Whether another process's lock was in the way: of an extended code, which node:sqlite gives, the low byte tells. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY;
}

function readRows(statement: StatementSync, bindings: readonly SQLInputValue[]): unknown[] {
  const rows = statement.all(...bindings);
  for (const row of rows) {
    for (const column in row) {
      if (typeof row[column] === 'bigint') Object.assign(row, { [column]: String(row[column]) });
    }
  }
  return rows;
}

function toSqliteValue(binding: unknown): SQLInputValue {
  if (typeof binding === 'boolean') return binding ? 1 : 0;
  if (binding instanceof Date) return binding.getTime();
  return binding as SQLInputValue; // Knex hands through what our queries bind: text, numbers, null
}
