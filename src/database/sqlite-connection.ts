import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import type { Binding } from './prepared.ts';

/** How long a statement waits for another process's write, in ms. */
const BUSY_TIMEOUT_MS = 2000;
/** How often it looks again, in ms. */
const BUSY_RETRY_MS = 5;
/** The primary result code, https://www.sqlite.org/rescode.html#busy */
const SQLITE_BUSY = 5;

/** A connection whose statements never block for another's lock: see `whenFree`. */
export async function openSqlite(filename: string): Promise<DatabaseSync> {
  const connection = new DatabaseSync(filename, { timeout: 0 });
  // The busy timeout does not cover the change of mode, when two processes begin a new file at once.
  await whenFree(() => connection.exec('PRAGMA journal_mode = WAL'));
  // FULL: a commit is on the disk before it is acknowledged, https://www.sqlite.org/pragma.html#pragma_synchronous
  connection.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;');
  return connection;
}

/** Does `work`, and again while another connection writes: its lock must not stop the event loop. */
export async function whenFree<Result>(work: () => Result): Promise<Result> {
  for (const deadline = performance.now() + BUSY_TIMEOUT_MS; ; await delay(BUSY_RETRY_MS)) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
    }
  }
}

/** Whether another connection's lock was in the way: of an extended code, which node:sqlite gives, the low byte tells. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY;
}

/** Adds rows in a transaction of their own, all or none; gives their ids in their order. */
export async function insertInTransaction(
  connection: DatabaseSync,
  into: string,
  rows: readonly (readonly Binding[])[],
): Promise<string[]> {
  // IMMEDIATE waits at the begin, not half-way, https://www.sqlite.org/lang_transaction.html
  await whenFree(() => connection.exec('BEGIN IMMEDIATE'));
  try {
    const ids = insertOneByOne(connection, into, rows);
    connection.exec('COMMIT');
    return ids;
  } finally {
    if (connection.isTransaction) connection.exec('ROLLBACK');
  }
}

/** Adds rows within the transaction that is open; gives their ids in their order. */
export function insertOneByOne(
  connection: DatabaseSync,
  into: string,
  rows: readonly (readonly Binding[])[],
): string[] {
  const marks = rows[0]?.map(() => '?').join(', ');
  const statement = connection.prepare(`INSERT INTO ${into} VALUES (${marks})`);
  statement.setReadBigInts(true);
  return rows.map((row) => String(statement.run(...row).lastInsertRowid));
}

/** The rows; a 64-bit integer is a number where that is exact, else decimal text. */
export function readRows(statement: StatementSync, bindings: readonly SQLInputValue[]): unknown[] {
  try {
    statement.setReadBigInts(false);
    const rows = statement.all(...bindings);
    if (!rows.some(holdsLeast)) return rows;
  } catch (error) {
    // One that a number cannot hold, https://nodejs.org/api/sqlite.html#statementsetreadbigintsenabled
    if (!(error instanceof RangeError)) throw error;
  }
  return readExactRows(statement, bindings);
}

const LEAST = -(2 ** 63);

/** Whether a row holds -2^63, the one that Node rounds without refusing it: its absolute value overflows. */
function holdsLeast(row: Record<string, unknown>): boolean {
  for (const column in row) if (row[column] === LEAST) return true;
  return false;
}

/** The rows; 64-bit integers as decimal text. */
export function readExactRows(statement: StatementSync, bindings: readonly SQLInputValue[]): unknown[] {
  statement.setReadBigInts(true);
  const rows = statement.all(...bindings);
  for (const row of rows) {
    for (const column in row) {
      if (typeof row[column] === 'bigint') Object.assign(row, { [column]: String(row[column]) });
    }
  }
  return rows;
}
