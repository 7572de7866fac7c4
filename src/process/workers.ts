import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Config } from '../config.ts';
import { CLOSING_MS, WORKERS_FIRST_MS } from '../deadlines.ts';
import { countForWorkers } from '../keys/rate-limit.ts';
import type { Logger } from '../log.ts';
import { urlOf } from './server.ts';
import { stopInGoodOrder } from './stop.ts';
import { answerMetricsRequests } from './worker-metrics.ts';

const BACK_OFF_MS = 100;
const BACK_OFF_MAX_MS = 10_000;
/** A worker that lived this long, in ms, was no failed start. */
const SETTLED_MS = 10_000;

/**
 * Runs WORKERS server processes: a dead one is replaced, with back-off while they die early; SIGHUP replaces all, one
 * at a time. Resolves with the address when the first one listens; a first start that fails ends the process.
 */
export async function superviseWorkers(config: Config, log: Logger): Promise<string> {
  let stopping = false;
  let reloading = false;
  let everListened = false;
  let earlyDeaths = 0;
  /** By then a worker has ended by itself, unless it is frozen or in an endless loop. */
  const endMs = config.shutdownGraceMs + CLOSING_MS + WORKERS_FIRST_MS / 2;
  /** The workers that were told to end: once each, because a second signal would end one at once. */
  const endings = new WeakMap<Worker, Promise<void>>();
  const end = (worker: Worker): Promise<void> => {
    const ending = endings.get(worker) ?? (worker.isDead() ? Promise.resolve() : endWorker(worker, endMs));
    endings.set(worker, ending);
    return ending;
  };

  const start = (isReplacement = false): Worker => {
    // The primary has migrated already.
    const worker = cluster.fork({ MIGRATE_ON_START: 'false' });
    const startedAt = performance.now();
    let hasListened = false;
    worker.once('listening', () => {
      hasListened = everListened = true;
    });
    watchErrors(worker, log);
    worker.once('exit', (code, signal) => {
      // A replacement that did not start is not replaced: the worker that it should have replaced still serves.
      if (stopping || endings.has(worker) || (isReplacement && !hasListened)) return;
      if (!everListened) process.exit(code || 1); // the worker has said why
      earlyDeaths = performance.now() - startedAt < SETTLED_MS ? earlyDeaths + 1 : 0;
      const waitMs = earlyDeaths === 0 ? 0 : Math.min(BACK_OFF_MS * 2 ** earlyDeaths, BACK_OFF_MAX_MS);
      log.error({ pid: worker.process.pid, code, signal, waitMs }, 'a worker died; starting another');
      setTimeout(() => {
        if (!stopping) start();
      }, waitMs);
    });
    return worker;
  };

  const reload = async () => {
    if (reloading) return;
    reloading = true;
    log.info('replacing the workers, one at a time');
    for (const worker of workersNow()) {
      if (worker.isDead() || stopping) continue;
      const next = start(true);
      if (!(await listens(next))) {
        reloading = false;
        if (!stopping) log.error('a new worker did not start; the others stay as they are');
        return;
      }
      await end(worker.isDead() ? next : worker); // one that died meanwhile has had its replacement
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
  stopInGoodOrder(stop, config.shutdownGraceMs + WORKERS_FIRST_MS, log);
  process.on('SIGHUP', reload);
  const [{ port }] = await once(start(), 'listening'); // alone: what stops the start is said once
  for (let worker = 1; worker < config.workers; worker++) start();
  return urlOf(config.host, port);
}

function workersNow(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}

/** Logs a message that could not be sent, and has a start that failed told as an exit: Node emits none for it. */
function watchErrors(worker: Worker, log: Logger): void {
  worker.on('error', (error) => {
    const { pid } = worker.process;
    // Such as the count of a rate limit to one that has just died.
    if (pid !== undefined) return log.warn({ err: error, pid }, 'a message did not reach a worker');
    log.error({ err: error }, 'a worker could not be started');
    setImmediate(() => worker.emit('exit', 1, ''));
  });
}

/** Whether a new worker comes to listen; false when it ends before. */
function listens(worker: Worker): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  worker.once('listening', () => resolve(true));
  worker.once('exit', () => resolve(false));
  return promise;
}

/** Ends a worker in good order, or after `limitMs` at once; resolves when it has ended. */
function endWorker(worker: Worker, limitMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>(); // once() of node:events would reject on an 'error', too
  const timer = setTimeout(() => worker.process.kill('SIGKILL'), limitMs);
  worker.once('exit', () => {
    clearTimeout(timer);
    resolve();
  });
  worker.process.kill('SIGTERM');
  return promise;
}
