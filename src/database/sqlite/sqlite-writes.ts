import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Binding } from '../prepared.ts';
import { checkFiles, type SqliteFiles } from './sqlite-files.ts';
import type { WriteJob, WriteOutcome } from './sqlite-writer.ts';

/** The writes of one process to a database file. */
export type SqliteWrites = ReturnType<typeof createSqliteWrites>;

const SQLITE_IOERR = 10;

/** Adds rows to a database file by a thread of its own, which begins with the first of them. */
export function createSqliteWrites(files: SqliteFiles) {
  const inFlight = new Map<number, PromiseWithResolvers<string[]>>();
  let thread: Worker | undefined;
  let jobs = 0;

  const settle = ({ number, ids, fault }: WriteOutcome): void => {
    const job = inFlight.get(number);
    inFlight.delete(number);
    if (inFlight.size === 0) thread?.unref(); // nobody waits for it: the process may end
    if (ids) job?.resolve([...ids]);
    else job?.reject(Object.assign(new Error(fault?.message), fault));
  };

  const start = (): Worker => {
    checkFiles(files, [files.filename]); // a thread costs more than a look
    const started = new Worker(new URL('./sqlite-writer.ts', import.meta.url), { workerData: files });
    let cause: unknown = 'the thread ended';
    started.on('message', settle);
    started.on('error', (error) => {
      cause = error;
    });
    started.on('exit', () => {
      if (thread === started) thread = undefined;
      for (const { reject } of inFlight.values()) {
        reject(Object.assign(new Error('the write was cut off', { cause }), { errcode: SQLITE_IOERR }));
      }
      inFlight.clear();
    });
    return started;
  };

  return {
    /** Rejects with what node:sqlite says, or with SQLITE_IOERR when the thread has ended. */
    insert(into: string, rows: readonly (readonly Binding[])[]): Promise<string[]> {
      const number = ++jobs;
      thread ??= start();
      const job = Promise.withResolvers<string[]>();
      inFlight.set(number, job);
      thread.ref();
      thread.postMessage({ number, into, rows } satisfies WriteJob);
      return job.promise;
    },
    /** Waits for the writes in flight, and ends the thread. */
    async close(): Promise<void> {
      if (thread === undefined) return;
      const ended = once(thread, 'exit');
      thread.ref();
      thread.postMessage('end');
      await ended;
    },
  };
}
