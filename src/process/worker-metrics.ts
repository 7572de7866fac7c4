import cluster, { type Worker } from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { AggregatorRegistry, type MetricObject, type Registry } from 'prom-client';
import { atMostOnce } from '../at-most-once.ts';
import { PRIMARY_WAIT_MS, WORKERS_WAIT_MS } from '../deadlines.ts';
import { serviceUnavailable } from '../errors.ts';
import { safely, type Logger } from '../log.ts';

/** What primary and workers send each other: one asks for a worker's meters, or for the page of all, the other gives it. */
type Message =
  | { readonly type: 'metrics:ask-meters' | 'metrics:ask-page' }
  | { readonly type: 'metrics:meters'; readonly meters: MetricObject[] }
  | { readonly type: 'metrics:page'; readonly page: string };

/** The page is made at most this often, in ms, for all workers together. */
const PAGE_MS = 1000;

/** Sends where somebody listens; who has gone hears nothing, and throws nothing. */
function send(to: Pick<NodeJS.Process | Worker, 'send'>, message: Message): void {
  to.send?.(message, undefined, undefined, () => {});
}

/** In the primary: answers workers that ask for the page of all of them. */
export function answerMetricsRequests(log: Logger): void {
  const meters = new Map<number, MetricObject[]>();
  const waiting = new Map<number, () => void>();
  const ask = (worker: Worker): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.set(worker.id, resolve);
    send(worker, { type: 'metrics:ask-meters' });
    return promise;
  };
  const makePage = atMostOnce(PAGE_MS, async () => {
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected());
    const answers = workers.map((worker) => worker && ask(worker));
    await Promise.race([Promise.all(answers), delay(WORKERS_WAIT_MS, undefined, { ref: false })]);
    return AggregatorRegistry.aggregate([...meters.values()]).metrics();
  });
  const forget = ({ id }: Worker) => {
    meters.delete(id);
    waiting.get(id)?.();
    waiting.delete(id);
  };
  const fail = (error: unknown) => log.error({ err: error }, 'the metrics of the workers could not be added up');
  const take = (worker: Worker, message: Message) => {
    if (message?.type === 'metrics:meters') {
      meters.set(worker.id, message.meters);
      waiting.get(worker.id)?.();
      waiting.delete(worker.id);
    } else if (message?.type === 'metrics:ask-page') {
      makePage().then((page) => send(worker, { type: 'metrics:page', page }), fail);
    }
  };
  cluster.on('exit', safely(log, forget));
  cluster.on('message', safely(log, take));
}

/**
 * In a worker: tells the primary this process's meters, and gives the function that asks it for those of all workers, once
 * at a time. That one rejects with ApiError `service_unavailable` when no answer comes.
 */
export function shareMetrics(log: Logger): { tell: (registry: Registry) => void; collect: () => Promise<string> } {
  let registry: Registry | undefined;
  let resolvePage: (page: string) => void = () => {};
  const answer = async () => {
    const meters = (await registry?.getMetricsAsJSON()) ?? [];
    send(process, { type: 'metrics:meters', meters });
  };
  const take = (message: Message) => {
    if (message?.type === 'metrics:page') resolvePage(message.page);
    else if (message?.type === 'metrics:ask-meters') {
      answer().catch((error) => log.error({ err: error }, 'the meters could not be read'));
    }
  };
  process.on('message', safely(log, take as (message: unknown) => void)); // the primary sends Messages only
  const collect = async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    resolvePage = resolve;
    send(process, { type: 'metrics:ask-page' });
    const page = await Promise.race([promise, delay(PRIMARY_WAIT_MS, undefined, { ref: false })]);
    if (page === undefined) throw serviceUnavailable(new Error('the primary did not give the metrics in time'));
    return page;
  };
  return {
    collect,
    tell(own) {
      registry = own;
    },
  };
}
