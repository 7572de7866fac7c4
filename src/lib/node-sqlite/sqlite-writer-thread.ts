import { parentPort, workerData } from 'node:worker_threads';
import type { Into, RowValues, SqliteTarget } from './sqlite-connection.ts';
import { createFilesCheck, insertRows, openSqlite } from './sqlite-connection.ts';
import type { SqliteFiles } from './sqlite-files.ts';

// The worker thread of `createSqliteWriter`. A commit of node:sqlite blocks its thread until the data is on the disk, so commits
// must not run in the thread that serves requests.

/** A database file. */
export type WriterTarget = SqliteTarget & { readonly files: SqliteFiles };

/** Rows to be added, all or none. None of them only starts the thread. */
export interface WriteJob {
  readonly into: Into;
  readonly rows: readonly RowValues[];
}

/** The ids of the rows in their order, or the properties of the error: cloning an Error would lose most of them. */
export type WriteOutcome = string[] | { readonly message: string };

const { files, busyMs }: WriterTarget = workerData; // from `createSqliteWriter`
const connection = await openSqlite({ files, busyMs });
const check = createFilesCheck(files, connection);

async function write({ into, rows }: WriteJob): Promise<WriteOutcome> {
  try {
    check();
    const ids = rows.length === 0 ? [] : await insertRows(connection, into, rows, busyMs);
    check(); // again, so that no write to a removed file is acknowledged
    return ids;
  } catch (error) {
    return { ...(error as Error), message: (error as Error).message }; // node:sqlite's, or of checkFiles
  }
}

let last: Promise<unknown> = Promise.resolve();
parentPort?.on('message', (job: WriteJob) => {
  last = last.then(async () => parentPort?.postMessage(await write(job))); // in turn: there is one connection
});
