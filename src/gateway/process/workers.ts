import cluster, { type Worker } from 'node:cluster';
import { WORKER_ENVIRONMENT } from '../cluster-worker.ts';
import type { Config } from '../config.ts';
import { ACCEPT_MS, CLOSING_MS, WORKERS_FIRST_MS } from '../deadlines.ts';
import { countForWorkers } from '../keys/rate-limit.ts';
import type { Logger } from '../log.ts';
import { drainMs } from './server.ts';
import { answerMetricsRequests } from './worker-metrics.ts';

const BACK_OFF_MS = 100;
const BACK_OFF_MAX_MS = 10_000;
/** A worker that dies sooner than this after it began to listen, in ms, counts as a start that failed. */
const SERVED_MS = 250;

/** The message of a worker to the primary, sent just before the worker listens. */
export const LISTENS_NEXT = 'process:listens-next';

/**
 * Runs WORKERS server processes, which listen at PORT; `leavePort` is called just before the first one does. A worker that
 * dies is replaced: at once when it has served, otherwise after a back-off that doubles from start to start. When the first
 * start fails, the process ends, or this function throws the system's error.
 */
export function superviseWorkers(config: Config, log: Logger, leavePort: () => void) {
  const { promise: listening, resolve: noteListening } = Promise.withResolvers<void>();
  let stopping = false;
  const countDeath = answerMetricsRequests(log);
  const { start, tryStart } = createStarter(config, log, noteListening, () => stopping, countDeath);
  if (config.rateLimit !== undefined) countForWorkers();
  // Only one, so that the reason of a failed start is logged once. The port is free when its listener has been closed, before
  // the worker's next message: that it listens.
  start(0).on('message', (message) => {
    if (message === LISTENS_NEXT) leavePort();
  });
  return {
    listening: listening.then(() => {
      if (stopping) return;
      for (let worker = 1; worker < config.workers; worker++) tryStart(0);
    }),
    /** Ends all workers; those that are frozen or in an endless loop, too. */
    stop(): Promise<void> {
      stopping = true;
      return endWorkers(config.shutdownGraceMs);
    },
  };
}

/** Gives the functions that start a worker after `failures` starts in a row that failed. `start` throws when `fork` does. */
function createStarter(
  config: Config,
  log: Logger,
  noteListening: () => void,
  isStopping: () => boolean,
  countDeath: () => void,
) {
  const { port, databaseUrl, hasDatabaseUrl } = config;
  // What DATABASE_URL_FILE says may have changed, and some files can be read once only.
  const database = hasDatabaseUrl ? { DATABASE_URL: databaseUrl, DATABASE_URL_FILE: '' } : {};
  // The primary has migrated already, and may have taken a free port.
  const environment = { ...WORKER_ENVIRONMENT, ...database, MIGRATE_ON_START: 'false', PORT: String(port) };
  let everListened = false;

  const start = (failures: number): Worker => {
    const worker = cluster.fork(environment);
    let listenedAt = Number.POSITIVE_INFINITY;
    worker.on('listening', (address) => {
      if (address.port !== port) return; // ADMIN_PORT, which comes before
      listenedAt = performance.now();
      everListened = true;
      noteListening();
    });
    watchErrors(worker, log);
    worker.once('exit', (code, signal) => {
      if (isStopping()) return;
      const exit = { pid: worker.process.pid, code, signal };
      if (!everListened) {
        if (signal) log.fatal(exit, 'the first worker was killed');
        process.exit(code || 1); // else the worker has logged the reason
      }
      startAnother(performance.now() - listenedAt >= SERVED_MS ? 0 : failures + 1, exit);
    });
    return worker;
  };

  const startAnother = (failures: number, exit: { code?: number | null }): void => {
    if (exit.code !== 0) countDeath();
    const waitMs = failures === 0 ? 0 : Math.min(BACK_OFF_MS * 2 ** failures, BACK_OFF_MAX_MS);
    log.error({ ...exit, waitMs }, 'a worker died; starting another');
    setTimeout(() => isStopping() || tryStart(failures), waitMs);
  };

  const tryStart = (failures: number): void => {
    try {
      start(failures);
    } catch (error) {
      // Node throws some errors, such as ETXTBSY, and emits others (`watchErrors`):
      // https://github.com/nodejs/node/blob/v24.x/lib/internal/child_process.js
      log.error({ err: error }, 'a worker could not be started');
      startAnother(failures + 1, {});
    }
  };

  return { start, tryStart };
}

/** Logs the errors of a worker. For a worker that could not be started it emits the `exit` that Node does not emit. */
function watchErrors(worker: Worker, log: Logger): void {
  worker.on('error', (error) => {
    const { pid } = worker.process;
    // Such as the count of a rate limit, sent to a worker that has just died.
    if (pid !== undefined) return log.warn({ err: error, pid }, 'a message did not reach a worker');
    log.error({ err: error }, 'a worker could not be started');
    setImmediate(() => worker.emit('exit', 1, ''));
  });
}

/** Lets all workers drain, and ends those that do not end in time. */
async function endWorkers(graceMs: number): Promise<void> {
  const all = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
  const workers = all.filter((worker) => !worker.isDead());
  const ends = workers.map((worker) => {
    worker.process.kill('SIGTERM');
    setTimeout(() => worker.process.kill('SIGKILL'), graceMs + CLOSING_MS + WORKERS_FIRST_MS / 2).unref();
    return new Promise((resolve) => worker.once('exit', resolve)); // `once` of node:events rejects on 'error' too
  });
  // The primary closes the ports, and the workers theirs ACCEPT_MS later: a connection that it hands to a worker whose port is closed
  // may never end: https://github.com/nodejs/node/blob/v24.x/lib/internal/cluster/round_robin_handle.js
  const disconnect = () => {
    for (const worker of workers) worker.disconnect();
  };
  setTimeout(disconnect, Math.max(0, drainMs(graceMs) - ACCEPT_MS));
  // After a second signal, for which the primary does not wait.
  process.once('exit', () => {
    for (const worker of workers) worker.process.kill('SIGKILL');
  });
  await Promise.all(ends);
}
