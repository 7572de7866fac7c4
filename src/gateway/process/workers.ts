import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { WORKER_ENVIRONMENT } from '../cluster-worker.ts';
import type { Config } from '../config.ts';
import { CLOSING_MS, WORKERS_FIRST_MS } from '../deadlines.ts';
import { countForWorkers } from '../keys/rate-limit.ts';
import type { Logger } from '../log.ts';
import { answerMetricsRequests } from './worker-metrics.ts';

const BACK_OFF_MS = 100;
const BACK_OFF_MAX_MS = 10_000;
/** A worker that dies younger than this, in ms, counts as a failed start. */
const SETTLED_MS = 10_000;

/** The message of a worker to the primary, sent just before the worker listens. */
export const LISTENS_NEXT = 'process:listens-next';

/** Emitted by a worker that listens at PORT. It listens at ADMIN_PORT before. */
const LISTENS = 'listens';

/**
 * Runs WORKERS server processes, which listen at PORT; `leavePort` is called just before the first one does. A worker that
 * dies is replaced, after a back-off that doubles while workers die early or cannot be started. When the first start fails,
 * the process ends, or `listening` rejects with the system's error.
 */
export function superviseWorkers(config: Config, log: Logger, leavePort: () => void) {
  let stopping = false;
  let reloading = false;
  /** How long a worker may take to end, in ms. A worker that takes longer is frozen or in an endless loop. */
  const endMs = config.shutdownGraceMs + CLOSING_MS + WORKERS_FIRST_MS / 2;
  /** The ends of workers by worker. Each worker gets one SIGTERM, because a second one would cut its requests. */
  const endings = new WeakMap<Worker, Promise<void>>();
  const end = (worker: Worker): Promise<void> => {
    const ending = endings.get(worker) ?? (worker.isDead() ? Promise.resolve() : endWorker(worker, endMs));
    endings.set(worker, ending);
    return ending;
  };

  const isToEnd = (worker?: Worker) => stopping || (worker !== undefined && endings.has(worker));
  const { start, tryStart } = createStarter(config, log, isToEnd);

  const reload = async () => {
    if (reloading) return;
    reloading = true;
    log.info('replacing the workers, one at a time');
    for (const worker of workersNow()) {
      if (worker.isDead() || stopping) continue;
      const next = tryStart(true);
      if (next === undefined || !(await listens(next))) {
        reloading = false;
        if (!stopping) log.error('a new worker did not start; the others stay as they are');
        return;
      }
      // A worker that died meanwhile has been replaced already, so the new worker is one too many.
      await end(worker.isDead() ? next : worker);
    }
    reloading = false;
    if (!stopping) log.info('all workers are replaced');
  };

  const stop = async () => {
    stopping = true;
    await Promise.all(workersNow().map(end));
  };

  answerMetricsRequests(log);
  if (config.rateLimit !== undefined) countForWorkers();
  const first = start(); // only one, so that the reason of a failed start is logged once
  // The port is free when its listener has been closed, before the worker's next message: that it listens.
  first.on('message', (message) => {
    if (message === LISTENS_NEXT) leavePort();
  });
  const startOthers = () => {
    for (let worker = 1; worker < config.workers; worker++) tryStart();
  };
  return {
    /** Resolves when the first worker listens. */
    listening: once(first, LISTENS).then(startOthers),
    /** Replaces all workers, one at a time: each new one listens before its old one stops. */
    reload,
    stop,
  };
}

/**
 * Gives the functions that start workers. A worker that dies is replaced, unless `isToEnd` is true of it; without a worker,
 * `isToEnd` says whether all are to end.
 */
function createStarter({ port, databaseUrl, embedded }: Config, log: Logger, isToEnd: (worker?: Worker) => boolean) {
  // What DATABASE_URL_FILE says may have changed, and some files can be read once only.
  const database = embedded ? {} : { DATABASE_URL: databaseUrl, DATABASE_URL_FILE: '' };
  let everListened = false;
  let earlyDeaths = 0;

  /** Starts a worker. Throws the system's error when `fork` does. */
  const start = (isReplacement = false): Worker => {
    // The primary has migrated already, and may have taken a free port.
    const worker = cluster.fork({ ...WORKER_ENVIRONMENT, ...database, MIGRATE_ON_START: 'false', PORT: String(port) });
    const startedAt = performance.now();
    let hasListened = false;
    worker.on('listening', (address) => {
      if (address.port === port) worker.emit(LISTENS);
    });
    worker.once(LISTENS, () => {
      hasListened = everListened = true;
    });
    watchErrors(worker, log);
    worker.once('exit', (code, signal) => {
      // A replacement that did not start is not replaced: the worker that it should have replaced still serves.
      if (isToEnd(worker) || (isReplacement && !hasListened)) return;
      if (!everListened) {
        if (signal) log.fatal({ pid: worker.process.pid, signal }, 'the first worker was killed');
        process.exit(code || 1); // else the worker has logged the reason
      }
      startAnother(performance.now() - startedAt, { pid: worker.process.pid, code, signal });
    });
    return worker;
  };

  /** Starts a worker in place of one that lived for `livedMs`, at once or after the back-off. */
  const startAnother = (livedMs: number, exit: object): void => {
    earlyDeaths = livedMs < SETTLED_MS ? earlyDeaths + 1 : 0;
    const waitMs = earlyDeaths === 0 ? 0 : Math.min(BACK_OFF_MS * 2 ** earlyDeaths, BACK_OFF_MAX_MS);
    log.error({ ...exit, waitMs }, 'a worker died; starting another');
    setTimeout(() => {
      if (!isToEnd()) tryStart();
    }, waitMs);
  };

  /** Starts a worker. When `fork` throws, gives undefined and, except for a replacement, tries again after the back-off. */
  const tryStart = (isReplacement = false): Worker | undefined => {
    try {
      return start(isReplacement);
    } catch (error) {
      // Node throws some errors, such as ETXTBSY, and emits others (`watchErrors`):
      // https://github.com/nodejs/node/blob/v24.x/lib/internal/child_process.js
      log.error({ err: error }, 'a worker could not be started');
      if (!isReplacement) startAnother(0, {});
      return undefined;
    }
  };

  return { start, tryStart };
}

function workersNow(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
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

/** Resolves with true when a new worker listens, with false when it ends before. */
function listens(worker: Worker): Promise<boolean> {
  return new Promise((resolve) => {
    worker.once(LISTENS, () => resolve(true)).once('exit', () => resolve(false));
  });
}

/** Sends a worker SIGTERM and, after `limitMs`, SIGKILL; resolves when it has ended. */
function endWorker(worker: Worker, limitMs: number): Promise<void> {
  worker.process.kill('SIGTERM');
  setTimeout(() => worker.process.kill('SIGKILL'), limitMs).unref(); // nothing, when it has ended
  return new Promise((resolve) => worker.once('exit', () => resolve())); // `once` of node:events rejects on 'error' too
}
