import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { BUSY_MS } from '../../deadlines.ts';
import type { Binding } from '../../kinds.ts';
import { checkFiles, type SqliteFiles } from './sqlite-files.ts';

/** How often a statement that waits for another process's write looks again, in ms. */
const BUSY_RETRY_MS = 5;
/** The primary result code, https://www.sqlite.org/rescode.html#busy */
const SQLITE_BUSY = 5;

/** In bytes: what a log that grew beside a long reader is cut to, once it is written to the database. */
const LOG_LIMIT_BYTES = 8 * 1024 * 1024;

/** A connection whose statements never block for another's lock: see `whenFree`. Without files it is in memory. */
export async function openSqlite(files?: SqliteFiles): Promise<DatabaseSync> {
  if (files) checkFiles(files, [files.filename]); // what stands there instead is not to be opened
  const connection = new DatabaseSync(files?.filename ?? ':memory:', { timeout: 0 });
  // The busy timeout does not cover the change of mode, when two processes begin a new file at once.
  await whenFree(() => connection.exec('PRAGMA journal_mode = WAL'));
  // FULL: a commit is on the disk before it is acknowledged, https://www.sqlite.org/pragma.html#pragma_synchronous
  connection.exec(
    `PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = ${LOG_LIMIT_BYTES}`,
  );
  // From the first read on there are all files, and as long as the connection is open they stay.
  await whenFree(() => connection.exec('SELECT 1 FROM sqlite_master'));
  if (files) checkFiles(files);
  return connection;
}

/** Does `work`, and again while another connection writes: its lock must not stop the event loop. */
export async function whenFree<Result>(work: () => Result): Promise<Result> {
  for (const deadline = performance.now() + BUSY_MS; ; await delay(BUSY_RETRY_MS)) {
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

/** Adds rows, all or none, in the transaction that is open or else in one of their own; gives their ids in their order. */
export async function insertRows(
  connection: DatabaseSync,
  into: string,
  rows: readonly (readonly Binding[])[],
): Promise<string[]> {
  const isOwn = !connection.isTransaction;
  // IMMEDIATE waits at the begin, not half-way, https://www.sqlite.org/lang_transaction.html
  if (isOwn) await whenFree(() => connection.exec('BEGIN IMMEDIATE'));
  try {
    const statement = connection.prepare(`INSERT INTO ${into} VALUES (${rows[0]?.map(() => '?').join(', ')})`);
    statement.setReadBigInts(true);
    const ids = rows.map((row) => String(statement.run(...row).lastInsertRowid));
    if (isOwn) connection.exec('COMMIT');
    return ids;
  } finally {
    if (isOwn && connection.isTransaction) connection.exec('ROLLBACK');
  }
}

/** Gives the rows of a statement; a 64-bit integer is a number where that is exact, else decimal text, as from MySQL. */
export function createReader(statement: StatementSync): (bindings: readonly SQLInputValue[]) => unknown[] {
  // As arrays of bigints, which takes a third of the time of objects whose properties are changed.
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
