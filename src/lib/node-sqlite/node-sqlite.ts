import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { Knex } from 'knex';
// Knex publishes its dialects by path; its better-sqlite3 dialect has the synchronous shape of node:sqlite.
import BetterSqlite3Client from 'knex/lib/dialects/better-sqlite3/index.js';
import type { Into, RowValues } from './sqlite-connection.ts';
import {
  createFilesCheck,
  createReader,
  insertRows,
  openSqlite,
  requireOpen,
  retryWhileBusy,
} from './sqlite-connection.ts';
import { prepareFiles } from './sqlite-files.ts';
import { createSqliteWriter } from './sqlite-writer.ts';

// biome-ignore lint/performance/noBarrelFile: a library has one entry; README.md says what for
export { peekSqlite } from './sqlite-files.ts';

/** Which database, and how long its statements wait. */
export interface NodeSqliteSettings {
  /** The path of a database file, or `:memory:`. */
  readonly filename: string;
  /** A statement's wait for the lock of another connection, in ms. */
  readonly busyMs: number;
  /** A query's wait for Knex's one connection, in ms: longer than `busyMs`, which the query before it may take. */
  readonly acquireMs: number;
}

/** Knex's settings for a database on node:sqlite. Creates a missing file and folder; throws the errors of fs. */
export function createSqliteConfig({ filename, busyMs, acquireMs }: NodeSqliteSettings): Knex.Config {
  const files = filename === ':memory:' ? undefined : prepareFiles(filename);
  const connection = { filename, files, busyMs };
  return {
    client: NodeSqliteClient,
    connection,
    useNullAsDefault: true,
    // One connection: node:sqlite is synchronous, so a second one could only wait for the first.
    pool: { min: 1, max: 1, idleTimeoutMillis: 2 ** 31 - 1, acquireTimeoutMillis: acquireMs },
  };
}

/** How often reads check that the files are still in place, in ms. */
const FILES_CHECK_MS = 250;

/** The fields of Knex's query that `_query` reads and fills. */
interface KnexQuery {
  sql: string;
  bindings?: readonly unknown[];
  response?: unknown;
  context?: { lastID: string; changes: number };
}

/**
 * Knex on node:sqlite. A 64-bit integer is a number where that is exact, else decimal text. A database file has two more
 * connections: a reader, which no writer blocks (https://www.sqlite.org/wal.html), and a writer in a worker thread.
 */
export class NodeSqliteClient extends BetterSqlite3Client {
  /** The pool's connections in use and free, and its waiters. */
  readonly poolState = () => ({
    used: this.pool.numUsed(),
    free: this.pool.numFree(),
    waiting: this.pool.numPendingAcquires(),
  });

  #isClosed = false;
  #checkedAt = Number.NEGATIVE_INFINITY; // the first read checks, in a process that is younger than FILES_CHECK_MS, too
  #writer: ReturnType<typeof createSqliteWriter> | undefined;
  #reader: Promise<DatabaseSync> | undefined;
  readonly #prepared = new Map<string, ReturnType<typeof createReader>>();

  override _driver(): typeof DatabaseSync {
    return DatabaseSync;
  }

  override acquireRawConnection(): Promise<DatabaseSync> {
    return openSqlite(this.connectionSettings);
  }

  override async acquireConnection(): Promise<DatabaseSync> {
    try {
      return await super.acquireConnection();
    } catch (error) {
      const { message, errcode } = error as Error & { errcode?: number }; // Knex's, or node:sqlite's with a number
      throw errcode === undefined
        ? Object.assign(new Error(message, { cause: error }), { code: 'POOL_TIMEOUT' })
        : error;
    }
  }

  override async _query(connection: DatabaseSync, query: KnexQuery): Promise<KnexQuery> {
    // IMMEDIATE waits at BEGIN. Otherwise a transaction that reads first fails when another process writes before it does.
    const sql = query.sql === 'BEGIN;' ? 'BEGIN IMMEDIATE' : query.sql;
    const isRollback = /^ROLLBACK\b/.test(sql); // ROLLBACK TO, too
    // After some errors, such as a full disk, SQLite has already rolled back.
    if (isRollback && !connection.isTransaction) return Object.assign(query, { response: [] });
    if (this.transacting && query.sql !== 'BEGIN;') requireOpen(connection);
    const { files, busyMs } = this.connectionSettings;
    const check = () => {
      if (files && !connection.isTransaction) createFilesCheck(files, connection)();
    };
    check();
    const statement = connection.prepare(sql);
    const bindings = this._formatBindings(query.bindings);
    if (statement.columns().length > 0) {
      const read = createReader(statement);
      query.response = await retryWhileBusy(() => read(bindings), busyMs);
    } else {
      statement.setReadBigInts(true);
      const running = retryWhileBusy(() => statement.run(...bindings), busyMs);
      const { lastInsertRowid, changes } = await running.catch((error: unknown) => {
        // The transaction may still be open, https://www.sqlite.org/foreignkeys.html#fk_deferred, and Knex sends no ROLLBACK.
        if (/^COMMIT;?$/.test(sql) && connection.isTransaction) connection.exec('ROLLBACK');
        throw error;
      });
      query.context = { lastID: String(lastInsertRowid), changes: Number(changes) };
    }
    if (!isRollback) check(); // again, so that no write to a removed file is acknowledged
    return query;
  }

  /** The rows of a prepared statement, which is kept by its text. */
  async queryPrepared(sql: string, bindings: readonly SQLInputValue[]): Promise<unknown[]> {
    const { files, busyMs } = this.#openTarget();
    if (!files) return this.#onOwnConnection((connection) => createReader(connection.prepare(sql))(bindings));
    const read = this.#prepared.get(sql) ?? createReader((await this.#openReader()).prepare(sql));
    this.#prepared.set(sql, read);
    if (performance.now() - this.#checkedAt > FILES_CHECK_MS) {
      createFilesCheck(files, await this.#openReader())();
      this.#checkedAt = performance.now();
    }
    return retryWhileBusy(() => read(bindings), busyMs);
  }

  /** Adds rows, all or none; gives their ids in the order of the rows. */
  async insertPrepared(into: Into, rows: readonly RowValues[]): Promise<string[]> {
    const { files, busyMs } = this.#openTarget();
    if (!files) return this.#onOwnConnection((connection) => insertRows(connection, into, rows, busyMs));
    this.#writer ??= createSqliteWriter({ files, busyMs });
    return this.#writer.insert(into, rows);
  }

  /** Starts the writer of a database file. */
  async preload(): Promise<void> {
    if (this.#openTarget().files) await this.insertPrepared({ table: '', columns: [] }, []);
  }

  /** As `insertPrepared`, within the transaction of a connection. */
  async insertOn(connection: DatabaseSync, into: Into, rows: readonly RowValues[]): Promise<string[]> {
    requireOpen(connection);
    return insertRows(connection, into, rows, this.connectionSettings.busyMs);
  }

  override async destroy(callback?: (error?: unknown) => void): Promise<void> {
    this.#isClosed = true;
    await this.#writer?.close();
    const reader = await this.#reader?.catch(() => undefined); // its query has the error
    if (reader?.isOpen) reader.close();
    return super.destroy(callback);
  }

  #openTarget() {
    if (this.#isClosed) throw Object.assign(new Error('the database has been closed'), { code: 'POOL_CLOSED' });
    return this.connectionSettings;
  }

  #openReader(): Promise<DatabaseSync> {
    this.#reader ??= openSqlite(this.connectionSettings).catch((error: unknown) => {
      this.#reader = undefined; // the next query tries again
      throw error;
    });
    return this.#reader;
  }

  /** For a database in memory, which has one connection only. */
  async #onOwnConnection<Result>(work: (connection: DatabaseSync) => Result | Promise<Result>): Promise<Result> {
    const connection = await this.acquireConnection();
    try {
      return await work(connection);
    } finally {
      this.releaseConnection(connection);
    }
  }
}
