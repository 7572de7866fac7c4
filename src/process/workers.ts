import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Config } from '../config.ts';
import { CLOSING_MS, WORKERS_FIRST_MS } from '../deadlines.ts';
import { countForWorkers } from '../keys/rate-limit.ts';
import type { Logger } from '../log.ts';
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
  /** A worker ends by itself before, unless it is frozen or in an endless loop. */
  const endMs = config.shutdownGraceMs + CLOSING_MS + WORKERS_FIRST_MS / 2;
  let stopping = false;
  let everListened = false;
  let earlyDeaths = 0;

  const start = (): Worker => {
    // The primary has migrated already.
    const worker = cluster.fork({ MIGRATE_ON_START: 'false' });
    const startedAt = performance.now();
    worker.once('listening', () => {
      everListened = true;
    });
    watchErrors(worker, log);
    worker.once('exit', (code, signal) => {
      if (stopping || worker.exitedAfterDisconnect || replaced.has(worker)) return;
      if (!everListened) process.exit(code || 1); // it has said why
      earlyDeaths = performance.now() - startedAt < SETTLED_MS ? earlyDeaths + 1 : 0;
      const waitMs = earlyDeaths === 0 ? 0 : Math.min(BACK_OFF_MS * 2 ** earlyDeaths, BACK_OFF_MAX_MS);
      log.error({ pid: worker.process.pid, code, signal, waitMs }, 'a worker died; starting another');
      setTimeout(() => {
        if (!stopping) start();
      }, waitMs);
    });
    return worker;
  };

  const replaced = new WeakSet<Worker>();
  let reloading = false;
  const reload = async () => {
    if (reloading) return;
    reloading = true;
    log.info('replacing the workers, one at a time');
    for (const worker of Object.values(cluster.workers ?? {})) {
      if (!worker || worker.isDead() || stopping) continue;
      const next = start();
      const giveUp = () => replaced.add(next); // the one that it should have replaced still serves
      next.prependOnceListener('exit', giveUp);
      if (!(await listens(next))) {
        reloading = false;
        if (!stopping) log.error('a new worker did not start; the others stay as they are');
        return;
      }
      next.off('exit', giveUp);
      const surplus = worker.isDead() ? next : worker; // one that died meanwhile has had its replacement
      replaced.add(surplus);
      await end(surplus, endMs);
    }
    reloading = false;
    if (!stopping) log.info('all workers are replaced');
  };

  const stop = async () => {
    stopping = true;
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    await Promise.all(workers.map((worker) => end(worker, endMs)));
  };

  answerMetricsRequests(log);
  if (config.rateLimit !== undefined) countForWorkers();
  stopInGoodOrder(stop, config.shutdownGraceMs + WORKERS_FIRST_MS, log);
  process.on('SIGHUP', reload);
  const [{ address, port }] = await once(start(), 'listening'); // alone: what stops the start is said once
  for (let worker = 1; worker < config.workers; worker++) start();
  const host = String(address).includes(':') ? `[${address}]` : address;
  return `http://${host}:${port}`;
}

/** Has an unsent message logged, and a start that failed told as an exit: Node tells none of what never began. */
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

/** The workers that were told to end. */
const endings = new WeakMap<Worker, Promise<void>>();

/**
 * Ends a worker in good order, or after `limitMs` at once; resolves when it has ended. It is told once: a second signal would
 * end it at once.
 */
function end(worker: Worker, limitMs: number): Promise<void> {
  if (worker.isDead()) return Promise.resolve();
  const known = endings.get(worker);
  if (known !== undefined) return known;
  const { promise, resolve } = Promise.withResolvers<void>(); // once() of node:events would reject on an 'error', too
  const timer = setTimeout(() => worker.process.kill('SIGKILL'), limitMs);
  worker.once('exit', () => {
    clearTimeout(timer);
    resolve();
  });
  endings.set(worker, promise);
  worker.process.kill('SIGTERM');
  return promise;
}
