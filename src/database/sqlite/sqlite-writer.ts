import { parentPort, workerData } from 'node:worker_threads';
import type { Binding } from '../../kinds.ts';
import { insertRows, openSqlite } from './sqlite-connection.ts';
import { checkFiles, type SqliteFiles } from './sqlite-files.ts';

// The thread that `createSqliteWrites` starts. A commit of node:sqlite blocks until it is on the disk; here it does not block the
// event loop of requests.

/** Rows to be added, all or none. */
export interface WriteJob {
  readonly into: string;
  readonly rows: readonly (readonly Binding[])[];
}

/** The ids of the rows in their order, or why none was added. */
export type WriteOutcome = string[] | { readonly message: string; readonly code?: string; readonly errcode?: number };

const files: SqliteFiles = workerData; // from `createSqliteWrites`
const connection = await openSqlite(files);

async function write({ into, rows }: WriteJob): Promise<WriteOutcome> {
  try {
    checkFiles(files);
    const ids = await insertRows(connection, into, rows);
    checkFiles(files); // again, so that no write to a removed file is acknowledged
    return ids;
  } catch (error) {
    const { message, code, errcode } = error as Error & { code?: string; errcode?: number }; // node:sqlite's
    return { message, ...(code && { code }), ...(errcode && { errcode }) };
  }
}

let last: Promise<unknown> = Promise.resolve();
parentPort?.on('message', (job: WriteJob) => {
  last = last.then(async () => parentPort?.postMessage(await write(job))); // in turn: there is one connection
});
