import { statSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { checkFiles, isLogRemoved, moved, type SqliteFiles } from './sqlite-files.ts';

/** The retry interval while another connection holds the lock, in ms. */
const BUSY_RETRY_MS = 5;
/** The primary result code, https://www.sqlite.org/rescode.html#busy */
const SQLITE_BUSY = 5;
const SQLITE_CONSTRAINT = 19;

/** After a checkpoint, a WAL that grew during a long read is truncated to this size, in bytes. */
const LOG_LIMIT_BYTES = 8 * 1024 * 1024;

/** Whether a log that is cut is noticed. Before 3.51, SQLite takes NOOP for PASSIVE: a flush for each check. */
export const KNOWS_NOOP = (process.versions.sqlite ?? '').localeCompare('3.51', 'en', { numeric: true }) >= 0;

/** Where an INSERT adds rows. */
export type Into = { readonly table: string; readonly columns: readonly string[] };
/** The values of a row, in the order of an INSERT's columns. */
export type RowValues = readonly SQLInputValue[];

/** What is opened: a database file, or one in memory without `files`. */
export interface SqliteTarget {
  readonly files?: SqliteFiles | undefined;
  /** A statement's wait for the lock of another connection, in ms. */
  readonly busyMs: number;
}

/** Opens a connection. Its statements never block for a lock: use `retryWhileBusy`. */
export async function openSqlite({ files, busyMs }: SqliteTarget): Promise<DatabaseSync> {
  if (files) checkFiles(files); // a replaced file must not be opened
  const connection = new DatabaseSync(files?.filename ?? ':memory:', { timeout: 0 });
  // SQLite's own busy timeout does not cover this change when two processes create a file at once.
  await retryWhileBusy(() => connection.exec('PRAGMA journal_mode = WAL'), busyMs);
  // FULL: a commit is on the disk before it is acknowledged, https://www.sqlite.org/pragma.html#pragma_synchronous
  connection.exec(
    `PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = ${LOG_LIMIT_BYTES}`,
  );
  // The first read creates the WAL files, which stay until the connection is closed. Each use of the connection checks them.
  await retryWhileBusy(() => connection.exec('SELECT 1 FROM sqlite_master'), busyMs);
  return connection;
}

/**
 * Gives `checkFiles` for an open connection without a transaction; the log must not be cut either. When the log alone was removed, what
 * it has is written to the database file first: it would be lost with the process.
 */
export function createFilesCheck(files: SqliteFiles, connection: DatabaseSync): () => void {
  const [log = ''] = files.walFiles;
  const pageBytes = Number(connection.prepare('PRAGMA page_size').get()?.page_size);
  // NOOP only tells the number of frames. The index must not be read as a file: closing it would give up SQLite's locks on it.
  const frames = connection.prepare('PRAGMA wal_checkpoint(NOOP)');
  /** Whether the log is shorter than its frames: what is written behind a gap is lost at the next start. */
  const isLogCut = () => {
    const told = Number(frames.get()?.log);
    return (statSync(log, { throwIfNoEntry: false })?.size ?? 0) < told * pageBytes;
  };
  return () => {
    try {
      checkFiles(files, pageBytes);
      // Twice, because another process may just have shortened the log.
      if (KNOWS_NOOP && isLogCut() && isLogCut()) throw moved(`${log} was cut: restart the process`);
    } catch (error) {
      if (isLogRemoved(files)) connection.exec('PRAGMA wal_checkpoint');
      throw error;
    }
  };
}

/** Runs `work`; retries it for `busyMs` while another connection holds the lock, without blocking the event loop. */
export async function retryWhileBusy<Result>(work: () => Result, busyMs: number): Promise<Result> {
  for (const deadline = performance.now() + busyMs; ; await delay(BUSY_RETRY_MS)) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
    }
  }
}

/** node:sqlite gives extended codes; their low byte is the primary code. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY;
}

/**
 * Throws SQLITE_CONSTRAINT when the transaction of a statement is over: a trigger or a constraint may roll it back, which Knex does
 * not know (https://www.sqlite.org/lang_conflict.html). The statement would be committed by itself.
 */
export function requireOpen(connection: DatabaseSync): void {
  if (connection.isTransaction) return;
  const message = 'the transaction was rolled back, as by a trigger or a constraint';
  throw Object.assign(new Error(message), { errcode: SQLITE_CONSTRAINT });
}

/**
 * Adds rows, all or none, in the open transaction or in a new one; gives their ids in the order of the rows. Rejects with
 * SQLITE_CONSTRAINT, too, when a row is not kept as it was sent.
 */
export async function insertRows(
  connection: DatabaseSync,
  { table, columns }: Into,
  rows: readonly RowValues[],
  busyMs: number,
): Promise<string[]> {
  const isOwn = !connection.isTransaction;
  // IMMEDIATE waits for the lock at BEGIN, https://www.sqlite.org/lang_transaction.html
  if (isOwn) await retryWhileBusy(() => connection.exec('BEGIN IMMEDIATE'), busyMs);
  try {
    const marks = columns.map(() => '?');
    const insert = connection.prepare(`INSERT INTO ${table} (${columns}) VALUES (${marks})`);
    const read = connection.prepare(`SELECT ${columns} FROM ${table} WHERE id = ?`);
    for (const statement of [insert, read]) statement.setReadBigInts(true);
    const ids = rows.map((row) => {
      const { changes, lastInsertRowid } = insert.run(...row);
      // A trigger may leave a row out; then the id is that of an earlier one.
      const kept = changes === 1n && read.get(lastInsertRowid);
      if (!kept || !isKept(row, Object.values(kept)))
        throw Object.assign(new Error(`${table} changes a row, or its id, by a trigger or a type`), {
          errcode: SQLITE_CONSTRAINT,
        });
      return String(lastInsertRowid);
    });
    if (isOwn) connection.exec('COMMIT');
    return ids;
  } finally {
    if (isOwn && connection.isTransaction) connection.exec('ROLLBACK');
  }
}

function isKept(sent: RowValues, kept: readonly SQLOutputValue[]): boolean {
  return sent.every((value, place) =>
    typeof value === 'string' || value === null ? kept[place] === value : String(kept[place]) === String(value),
  );
}

/** Gives a function that reads rows. A 64-bit integer is a number where that is exact, else decimal text. */
export function createReader(statement: StatementSync): (bindings: readonly SQLInputValue[]) => unknown[] {
  // Reading arrays of bigints takes a third of the time of reading objects and changing their properties.
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  const names = statement.columns().map(({ name }) => name);
  return (bindings) => {
    const rows = statement.all(...bindings) as unknown as SQLOutputValue[][]; // by setReturnArrays; its types know objects only
    return rows.map((values) => {
      const row: Record<string, unknown> = {};
      for (let index = 0; index < names.length; index++) row[names[index] as string] = toExact(values[index]); // one for each
      return row;
    });
  };
}

const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER);

function toExact(value: SQLOutputValue | undefined): unknown {
  if (typeof value !== 'bigint') return value;
  return value <= SAFE_MAX && value >= -SAFE_MAX ? Number(value) : String(value);
}
