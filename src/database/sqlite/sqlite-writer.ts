import type { StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { Binding } from '../prepared.ts';
import { insertInTransaction, openSqlite } from './sqlite-connection.ts';
import { checkFiles, type SqliteFiles } from './sqlite-files.ts';

/** Rows to be added, all or none. */
export interface WriteJob {
  readonly number: number;
  readonly into: string;
  readonly rows: readonly (readonly Binding[])[];
}

/** The ids of the rows in their order, or why none was added. */
export interface WriteOutcome {
  readonly number: number;
  readonly ids?: readonly string[];
  readonly fault?: {
    readonly message: string;
    readonly code?: string | undefined;
    readonly errcode?: number | undefined;
  };
}

// The thread that `createSqliteWrites` starts. A commit waits for the disk, and node:sqlite waits with it: here it stops
// no event loop that answers requests.

const files: SqliteFiles = workerData; // what `createSqliteWrites` hands over
const connection = await openSqlite(files);
const inserts = new Map<string, StatementSync>(); // one for each table

function prepare(sql: string): StatementSync {
  const statement = inserts.get(sql) ?? connection.prepare(sql);
  inserts.set(sql, statement);
  return statement;
}

async function write({ number, into, rows }: WriteJob): Promise<WriteOutcome> {
  try {
    checkFiles(files);
    const ids = await insertInTransaction(connection, into, rows, prepare);
    checkFiles(files); // once more: what is acknowledged was written to a file that had its name
    return { number, ids };
  } catch (error) {
    const { message, code, errcode } = error as Error & { code?: string; errcode?: number }; // node:sqlite's
    return { number, fault: { message, code, errcode } };
  }
}

let last: Promise<unknown> = Promise.resolve();
parentPort?.on('message', (job: WriteJob | 'end') => {
  // One after the other: there is one connection.
  last = last.then(async () => {
    if (job !== 'end') return parentPort?.postMessage(await write(job));
    connection.close();
    parentPort?.close();
  });
});
