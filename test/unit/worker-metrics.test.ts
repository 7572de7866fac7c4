import cluster, { type Worker } from 'node:cluster';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { afterEach, expect, test, vi } from 'vitest';
import { createLog } from '../../src/gateway/log.ts';
import { createMetrics } from '../../src/gateway/metrics.ts';
import { answerMetricsRequests } from '../../src/gateway/process/worker-metrics.ts';
import { collectGarbage } from '../support/garbage.ts';
import { createRandom } from '../support/random.ts';

afterEach(() => {
  for (const event of ['message', 'exit']) cluster.removeAllListeners(event);
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** What the alert PetstoreEventLoopLate watches. */
const LATE = 'nodejs_eventloop_lag_p99_seconds';

/** What a worker sends that has served so many requests. */
async function metersOf(count: number) {
  const registry = new Registry();
  new Counter({ name: 'served_total', help: 'Requests.', registers: [registry] }).inc(count);
  const times = new Histogram({ name: 'seconds', help: 'Times.', buckets: [1], registers: [registry] });
  times.observe(count);
  new Gauge({ name: 'open', help: 'Connections.', registers: [registry] }).set(count);
  return { type: 'metrics:meters', meters: await registry.getMetricsAsJSON() };
}

test('the metrics are the sum of the workers: what is, of those that live; what was counted, of the others too', async () => {
  const countDeath = answerMetricsRequests(createLog('silent', { write() {} }));
  const { promise: answer, resolve } = Promise.withResolvers<{ page: string }>();
  const ended = new Set<number>();
  const isDead = (id: number) => () => ended.has(id);
  const workers = [1, 2, 3, 4].map((id) => ({ id, send: resolve, isDead: isDead(id) }) as unknown as Worker); // all that is used of them
  const tell = async (worker: Worker) => cluster.emit('message', worker, await metersOf(10 ** worker.id));
  const end = (worker: Worker | undefined) => {
    ended.add(worker?.id ?? 0);
    cluster.emit('exit', worker);
  };
  for (const worker of workers) await tell(worker);
  for (const worker of workers.slice(0, 3)) end(worker);
  countDeath();
  for (const worker of workers) await tell(worker); // a message may come after the end
  cluster.emit('message', workers[3], { type: 'metrics:ask-page' });
  const { page } = await answer;
  expect(page).toContain('served_total 11110\n');
  expect(page).toContain('seconds_sum 11110\n');
  expect(page).toContain('seconds_count 4\n');
  expect(page).toContain('open 10000\n');
  expect(page).toContain('workers_died_total 1\n');
  expect(page).toMatch(/^process_start_time_seconds \d{10}$/m);
});

test('one event loop that is late is not hidden by others that are not', async () => {
  answerMetricsRequests(createLog('silent', { write() {} }));
  const { promise: answer, resolve } = Promise.withResolvers<{ page: string }>();
  const meters = await createMetrics(() => ({})).registry.getMetricsAsJSON();
  for (const [id, value] of [0.01, 0.9, 0.01].entries()) {
    const worker = { id, send: resolve, isDead: () => false } as unknown as Worker; // all that is used of it
    const values = [{ value, labels: {} }];
    const own = meters.map((meter) => (meter.name === LATE ? { ...meter, values } : meter));
    cluster.emit('message', worker, { type: 'metrics:meters', meters: own });
    if (id === 2) cluster.emit('message', worker, { type: 'metrics:ask-page' });
  }
  expect((await answer).page).toContain(`${LATE} 0.9\n`);
});

test('what ended workers have sent is added up and not kept', async () => {
  answerMetricsRequests(createLog('silent', { write() {} }));
  const end = async (id: number) => {
    const worker = { id, isDead: () => false } as Worker; // all that is used of it
    const message = await metersOf(1);
    cluster.emit('message', worker, message);
    cluster.emit('exit', worker, 1);
    return new WeakRef(message.meters[0] ?? expect.fail());
  };
  const sent = [await end(11), await end(12), await end(13)];
  await nextTurn();
  collectGarbage();
  expect(sent.map((meter) => meter.deref()?.name)).toEqual(sent.map(() => undefined));
});

test('no sum falls by a rounding when a worker ends: Prometheus would take it for a restart', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  answerMetricsRequests(createLog('silent', { write() {} }));
  const random = createRandom(5);
  const timesOf = async () => {
    const registry = new Registry();
    const times = new Histogram({ name: 'seconds', help: 'Times.', labelNames: ['route'], registers: [registry] });
    for (let route = 0; route < 100; route++) times.observe({ route }, random.below(2 ** 32) / 1e7);
    return { type: 'metrics:meters', meters: await registry.getMetricsAsJSON() };
  };
  const pages: string[] = [];
  const send = ({ page }: { page: string }) => pages.push(page);
  const workers = [1, 2, 3, 4].map((id) => ({ id, send, isDead: () => false }) as unknown as Worker); // all that is used of them
  const sums = async () => {
    vi.advanceTimersByTime(1000); // a page is made once in that time
    cluster.emit('message', workers[0], { type: 'metrics:ask-page' });
    const page = await vi.waitUntil(() => pages.pop());
    return [...page.matchAll(/^seconds_sum\{.*\} (.+)$/gm)].map(([, sum]) => Number(sum));
  };
  for (const worker of workers) cluster.emit('message', worker, await timesOf());
  const before = await sums();
  cluster.emit('exit', workers[2]);
  const after = await sums();
  expect(after).toHaveLength(100);
  expect(after.filter((sum, route) => sum < (before[route] ?? 0))).toEqual([]);
});

test('a worker whose fork was refused is not asked: each page would wait for it', async () => {
  const asked: number[] = [];
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  const workerOf = (id: number, isDead: boolean) => {
    const send = ({ type }: { type: string }) => (type === 'metrics:page' ? resolve() : void asked.push(id));
    return { id, send, isConnected: () => true, isDead: () => isDead } as unknown as Worker; // all that is used of it
  };
  const [serving, refused] = [workerOf(1, false), workerOf(2, true)];
  vi.spyOn(cluster, 'workers', 'get').mockReturnValue({ 1: serving, 2: refused });
  answerMetricsRequests(createLog('silent', { write() {} }));
  cluster.emit('message', serving, { type: 'metrics:ask-page' });
  cluster.emit('message', serving, await metersOf(1));
  await answered;
  expect(asked).toEqual([1]);
});
