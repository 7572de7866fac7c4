import cluster, { type Worker } from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { AggregatorRegistry, Counter, Gauge, type MetricObject, Registry } from 'prom-client';
import { throttle } from '../caches.ts';
import { PRIMARY_WAIT_MS, WORKERS_WAIT_MS } from '../deadlines.ts';
import { serviceUnavailable } from '../errors.ts';
import { type Logger, safely } from '../log.ts';

/** The page is made at most once in this time, in ms, for all workers. */
const PAGE_MS = 1000;

type Meters = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** A worker asks the primary for the page; the primary asks every worker for its meters and answers with the page. */
type Message =
  | { readonly type: 'metrics:ask-meters' | 'metrics:ask-page' }
  | { readonly type: 'metrics:meters'; readonly meters: Meters }
  | { readonly type: 'metrics:page'; readonly page: string };

/** Sends a message. It is lost without an error when the other process has ended. */
function send(to: Pick<NodeJS.Process | Worker, 'send'>, message: Message): void {
  to.send?.(message, undefined, undefined, () => {});
}

/**
 * In the primary: makes the metrics page of all workers. For a worker that does not answer, its last known meters
 * count; prom-client's own `clusterMetrics` fails instead:
 * https://github.com/siimon/prom-client/blob/v15.1.3/lib/cluster.js
 *
 * Gives the function that counts a worker that died; one that could not be started has no `exit` of the cluster.
 */
export function answerMetricsRequests(log: Logger): () => void {
  const meters = new Map<number, Meters>();
  const registry = new Registry();
  const registers = [registry];
  // As of a lone process; prom-client leaves it out of a sum. The first is this one.
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'Start time of the primary process since unix epoch in seconds.',
    aggregator: 'first',
    registers,
  }).set(Math.round(Date.now() / 1000 - process.uptime()));
  const died = new Counter({
    name: 'workers_died_total',
    help: 'Workers that ended with an error, or could not be started.',
    registers,
  });
  // Prometheus takes a sum that falls for a restart, and all that is left of it for new: what ended workers counted stays.
  let ended: MetricObject[] = [];
  /** By worker: ends the wait for its meters. */
  const arrived = new Map<number, () => void>();
  const makePage = throttle(PAGE_MS, async () => {
    const all = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    // One whose fork was refused, as by EAGAIN, is dead and seems connected for ever:
    // https://github.com/nodejs/node/blob/v24.x/lib/internal/child_process.js
    const workers = all.filter((worker) => worker.isConnected() && !worker.isDead());
    const arrivals = workers.map((worker) => {
      send(worker, { type: 'metrics:ask-meters' });
      return new Promise<void>((resolve) => arrived.set(worker.id, resolve));
    });
    await Promise.race([Promise.all(arrivals), delay(WORKERS_WAIT_MS, undefined, { ref: false })]);
    return AggregatorRegistry.aggregate([await registry.getMetricsAsJSON(), ended, ...meters.values()]).metrics();
  });
  const fail = (error: unknown) => log.error({ err: error }, 'the metrics of the workers could not be added up');
  const take = (worker: Worker, message: Message) => {
    if (message?.type === 'metrics:meters' && !worker.isDead()) {
      roundCounts(message.meters);
      meters.set(worker.id, message.meters);
      arrived.get(worker.id)?.();
    } else if (message?.type === 'metrics:ask-page') {
      makePage().then((page) => send(worker, { type: 'metrics:page', page }), fail);
    }
  };
  const forget = ({ id }: Worker) => {
    const counted = (meters.get(id) ?? []).filter(({ type }) => COUNTED.has(type));
    // Without `get`, a closure that keeps all that was added up: the meters of every worker that has ended.
    const sums = AggregatorRegistry.aggregate([ended, counted]).getMetricsAsArray();
    ended = sums.map((sum) => ({ ...sum, get: undefined }));
    meters.delete(id);
    arrived.get(id)?.();
    arrived.delete(id);
  };
  cluster.on('exit', safely(log, forget));
  cluster.on('message', safely(log, take));
  return () => died.inc();
}

/** The steps of what is counted, in seconds about a microsecond. A power of two: sums of such steps are exact up to 2^33. */
const STEP = 2 ** -20;

/** Rounds counts to steps. Else a sum could fall by a rounding when a worker ends, because what it counted is then added earlier. */
function roundCounts(meters: Meters): void {
  for (const { type, values } of meters) {
    if (COUNTED.has(type)) for (const one of values) one.value = Math.round(one.value / STEP) * STEP;
  }
}

/** The types of meters that only grow; those of prom-client are texts: https://github.com/siimon/prom-client/blob/v15.1.3/lib/counter.js */
const COUNTED = new Set<unknown>(['counter', 'histogram']);

/**
 * In a worker: answers the primary's questions for the meters of this process. Gives the function that asks the primary
 * for the page of all workers; call it once at a time. It rejects with ApiError `service_unavailable` when no answer
 * comes in time.
 */
export function shareMetrics(registry: Registry, log: Logger): () => Promise<string> {
  let resolvePage: (page: string) => void = () => {};
  const fail = (error: unknown) => log.error({ err: error }, 'the meters could not be read');
  const take = (message: Message) => {
    if (message?.type === 'metrics:page') resolvePage(message.page);
    else if (message?.type === 'metrics:ask-meters') {
      registry.getMetricsAsJSON().then((meters) => send(process, { type: 'metrics:meters', meters }), fail);
    }
  };
  process.on('message', safely(log, take as (message: unknown) => void)); // messages of other modules have other types
  return async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    resolvePage = resolve;
    send(process, { type: 'metrics:ask-page' });
    const page = await Promise.race([promise, delay(PRIMARY_WAIT_MS, undefined, { ref: false })]);
    if (page === undefined) throw serviceUnavailable(new Error('the primary did not give the metrics in time'));
    return page;
  };
}
