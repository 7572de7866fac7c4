import { resolve } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { Knex } from 'knex';
// Knex publishes its dialects by path; its better-sqlite3 dialect has the synchronous shape of node:sqlite.
import BetterSqlite3Client from 'knex/lib/dialects/better-sqlite3/index.js';
import { ACQUIRE_MS } from '../../deadlines.ts';
import { poolError } from '../pool-error.ts';
import type { Binding } from '../prepared.ts';
import {
  insertInTransaction,
  insertOneByOne,
  openSqlite,
  prepareRead,
  readExactRows,
  whenFree,
} from './sqlite-connection.ts';
import { checkFiles, prepareFiles } from './sqlite-files.ts';
import { createSqliteWrites, type SqliteWrites } from './sqlite-writes.ts';

/** How old the answer may be that the files stand in their place before a read asks again, in ms. */
const FILES_KNOWN_MS = 250;

/** Knex settings for `sqlite:PATH` or `sqlite::memory:`. Throws ConfigError as `prepareFiles` does. */
export function createSqliteClient(databaseUrl: string): Knex.Config {
  const path = databaseUrl.slice('sqlite:'.length);
  const connection = { filename: path, files: path === ':memory:' ? undefined : prepareFiles(resolve(path)) };
  return {
    client: NodeSqliteClient,
    connection,
    useNullAsDefault: true,
    // One connection for what Knex asks: node:sqlite is synchronous, a second one could only wait for the first.
    pool: { min: 1, max: 1, idleTimeoutMillis: 2 ** 31 - 1, acquireTimeoutMillis: ACQUIRE_MS },
    acquireConnectionTimeout: ACQUIRE_MS,
  };
}

/** One query on its way through Knex: what `_query` reads and fills. */
interface KnexQuery {
  sql: string;
  bindings?: readonly unknown[];
  response?: unknown;
  context?: { lastID: string; changes: number };
}

const NOTHING_CHANGED = { lastInsertRowid: '0', changes: 0 };

/**
 * Knex on node:sqlite. 64-bit integers come back as decimal text, from hot queries as numbers where those are exact. A
 * file has two more connections: one that only reads, which no writer holds up (https://www.sqlite.org/wal.html), and
 * one in a thread that adds rows.
 */
class NodeSqliteClient extends BetterSqlite3Client {
  override _driver(): typeof DatabaseSync {
    return DatabaseSync;
  }

  override acquireRawConnection(): Promise<DatabaseSync> {
    return openSqlite(this.connectionSettings.files);
  }

  override async _query(connection: DatabaseSync, query: KnexQuery): Promise<KnexQuery> {
    // A transaction that reads first and writes later fails when another process wrote in between;
    // IMMEDIATE waits at its begin instead, https://www.sqlite.org/lang_transaction.html
    const sql = query.sql === 'BEGIN;' ? 'BEGIN IMMEDIATE' : query.sql;
    if (/^ROLLBACK;?$/.test(sql)) {
      // Some faults, such as a full disk, are rolled back by SQLite itself: then there is nothing to roll back any more.
      if (connection.isTransaction) connection.exec(sql);
      return Object.assign(query, { response: NOTHING_CHANGED });
    }
    const { files } = this.connectionSettings;
    if (files && !connection.isTransaction) checkFiles(files);
    const statement = connection.prepare(sql);
    statement.setReadBigInts(true);
    const bindings = (query.bindings ?? []).map(toSqliteValue);
    if (statement.columns().length > 0) {
      query.response = await whenFree(() => readExactRows(statement, bindings));
    } else {
      const { lastInsertRowid, changes } = await whenFree(() => statement.run(...bindings));
      query.response = { lastInsertRowid: String(lastInsertRowid), changes: Number(changes) };
      query.context = { lastID: String(lastInsertRowid), changes: Number(changes) };
    }
    // Once more: what is acknowledged was written to a file that had its name.
    if (files && !connection.isTransaction) checkFiles(files);
    return query;
  }

  /** The rows of a prepared statement, kept for the next time. */
  async queryPrepared(sql: string, bindings: readonly Binding[]): Promise<unknown[]> {
    this.#refuseWhenClosed();
    const { files } = this.connectionSettings;
    if (!files) return this.#onOwnConnection((connection) => prepareRead(connection, sql)(bindings));
    const read = this.#prepared.get(sql) ?? prepareRead(await this.#openReader(), sql);
    this.#prepared.set(sql, read);
    if (performance.now() - this.#checkedAt > FILES_KNOWN_MS) {
      checkFiles(files);
      this.#checkedAt = performance.now();
    }
    return whenFree(() => read(bindings));
  }

  /** The ids, in their order, of rows that are added all or none. */
  async insertPrepared(into: string, rows: readonly (readonly Binding[])[]): Promise<string[]> {
    this.#refuseWhenClosed();
    const { files } = this.connectionSettings;
    if (!files) return this.#onOwnConnection((connection) => insertInTransaction(connection, into, rows));
    this.#writes ??= createSqliteWrites(files);
    return this.#writes.insert(into, rows);
  }

  /** As `insertPrepared`, on a connection that is held for a transaction. */
  insertOn(connection: DatabaseSync, into: string, rows: readonly (readonly Binding[])[]): string[] {
    return insertOneByOne((sql) => connection.prepare(sql), into, rows);
  }

  override async destroy(callback?: (error?: unknown) => void): Promise<void> {
    this.#isClosed = true;
    await this.#writes?.close();
    const reader = await this.#reader;
    if (reader?.isOpen) reader.close();
    return super.destroy(callback);
  }

  #refuseWhenClosed(): void {
    if (this.#isClosed) throw poolError('POOL_CLOSED', 'the database has been closed');
  }

  #isClosed = false;
  #checkedAt = 0;
  #writes: SqliteWrites | undefined;
  #reader: Promise<DatabaseSync> | undefined;
  readonly #prepared = new Map<string, ReturnType<typeof prepareRead>>();

  #openReader(): Promise<DatabaseSync> {
    this.#reader ??= openSqlite(this.connectionSettings.files).catch((error: unknown) => {
      this.#reader = undefined; // the next query tries again
      throw error;
    });
    return this.#reader;
  }

  /** A database in memory is its one connection. */
  async #onOwnConnection<Result>(work: (connection: DatabaseSync) => Result | Promise<Result>): Promise<Result> {
    const connection: DatabaseSync = await this.acquireConnection();
    try {
      return await work(connection);
    } finally {
      this.releaseConnection(connection);
    }
  }
}

function toSqliteValue(binding: unknown): SQLInputValue {
  if (typeof binding === 'boolean') return binding ? 1 : 0;
  if (binding instanceof Date) return binding.getTime();
  return binding as SQLInputValue; // Knex hands through what our queries bind: text, numbers, null
}
