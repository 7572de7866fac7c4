import { Worker } from 'node:worker_threads';
import type { Into, RowValues } from './sqlite-connection.ts';
import type { WriteJob, WriteOutcome, WriterTarget } from './sqlite-writer-thread.ts';

const SQLITE_IOERR = 10;

/** Adds rows to a database file in a worker thread, which starts with the first call. */
export function createSqliteWriter(target: WriterTarget) {
  const inFlight: PromiseWithResolvers<string[]>[] = []; // answered in their order
  let thread: Worker | undefined;

  const start = (): Worker => {
    const started = new Worker(new URL('./sqlite-writer-thread.ts', import.meta.url), { workerData: target });
    const fail = (cause: unknown) => {
      if (thread !== started) return;
      thread = undefined;
      const error = Object.assign(new Error('the write was cut off', { cause }), { errcode: SQLITE_IOERR });
      for (const { reject } of inFlight.splice(0)) reject(error);
    };
    started.on('message', (outcome: WriteOutcome) => {
      const job = inFlight.shift();
      if (Array.isArray(outcome)) job?.resolve(outcome);
      else job?.reject(Object.assign(new Error(outcome.message), outcome));
    });
    started.on('error', fail);
    started.on('exit', fail);
    return started;
  };

  return {
    /** Rejects with the error of node:sqlite, or with SQLITE_IOERR when the thread has ended. */
    insert(into: Into, rows: readonly RowValues[]): Promise<string[]> {
      thread ??= start();
      const job = Promise.withResolvers<string[]>();
      inFlight.push(job);
      thread.postMessage({ into, rows } satisfies WriteJob);
      return job.promise;
    },
    /** Waits for the writes in flight, and ends the thread. */
    async close(): Promise<void> {
      await Promise.allSettled(inFlight.map(({ promise }) => promise));
      await thread?.terminate();
    },
  };
}
