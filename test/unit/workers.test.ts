import cluster, { type Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { readConfig } from '../../src/gateway/config.ts';
import { ACCEPT_MS, DRAIN_MS } from '../../src/gateway/deadlines.ts';
import { createLog } from '../../src/gateway/log.ts';
import { superviseWorkers } from '../../src/gateway/process/workers.ts';

afterEach(() => {
  // Other files of this process would meet the counters of these workers.
  for (const event of ['message', 'exit']) cluster.removeAllListeners(event);
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** What is waited before each start of the first forty seconds, in ms; `live` lets a worker live and die. */
function waitsWhen(
  live: (worker: EventEmitter) => void,
  onStart: (workers: ReturnType<typeof superviseWorkers>) => void = () => {},
): number[] {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  vi.spyOn(cluster, 'fork').mockImplementation(() => {
    const worker = Object.assign(new EventEmitter(), { process: { pid: 1 } });
    if (waits.length < STARTS_MAX) setTimeout(() => live(worker), 1);
    return worker as unknown as Worker; // all that is used of it
  });
  const waits: number[] = [];
  const note = (line: string) => void ('waitMs' in JSON.parse(line) && waits.push(JSON.parse(line).waitMs));
  const config = readConfig({ WORKERS: '1' });
  onStart(superviseWorkers(config, createLog('error', { write: note }), () => {}));
  vi.advanceTimersByTime(40_000);
  return waits;
}

const STARTS_MAX = 9;
const TO_TEN_SECONDS = [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000];
const listen = (worker: EventEmitter) => worker.emit('listening', { port: readConfig({}).port });
const die = (worker: EventEmitter) => worker.emit('exit', null, 'SIGKILL');

test('the back-off doubles while no worker can be started, to ten seconds at most', () => {
  const waits = waitsWhen((first) => {
    vi.mocked(cluster.fork).mockImplementation(() => {
      throw new Error('ETXTBSY');
    });
    listen(first);
    die(first);
  });
  expect(waits).toEqual(TO_TEN_SECONDS);
});

test('the same while workers end before they listen, or just after', () => {
  let starts = 0;
  const waits = waitsWhen((worker) => {
    if (starts++ % 2 === 0) listen(worker);
    die(worker);
  });
  expect(waits).toEqual(TO_TEN_SECONDS);
});

test('the same while workers listen at ADMIN_PORT alone, however long', () => {
  let starts = 0;
  const waits = waitsWhen((worker) => {
    if (starts++ === 0) listen(worker);
    worker.emit('listening', { port: 9090 });
    setTimeout(() => die(worker), starts === 1 ? 0 : 500);
  });
  expect(waits).toEqual(TO_TEN_SECONDS);
});

test('a worker whose start waits when the stop comes is not started', () => {
  let stop = async () => {};
  const waits = waitsWhen(
    (worker) => {
      listen(worker);
      die(worker);
      void stop();
    },
    (workers) => {
      stop = workers.stop;
    },
  );
  expect(waits).toEqual([200]);
  expect(cluster.fork).toHaveBeenCalledOnce();
});

test('a stop just when the first worker listens starts no other one', async () => {
  vi.spyOn(cluster, 'fork').mockReturnValue(new EventEmitter() as Worker); // all that is used of it
  const { stop, listening } = superviseWorkers(readConfig({ WORKERS: '4' }), createLog('silent'), () => {});
  listen(vi.mocked(cluster.fork).mock.results[0]?.value);
  await stop();
  await listening;
  expect(cluster.fork).toHaveBeenCalledOnce();
});

test('a worker that has served is replaced at once, whatever was before', () => {
  let starts = 0;
  const waits = waitsWhen((worker) => {
    listen(worker);
    if (starts++ % 3 === 2) setTimeout(() => die(worker), 500);
    else die(worker);
  });
  expect(waits).toEqual([200, 400, 0, 200, 400, 0, 200, 400, 0]);
});

test('a stop closes the ports of the primary a moment before the workers close theirs', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  const closedAt: number[] = [];
  const worker = Object.assign(new EventEmitter(), {
    process: { pid: 1, kill: () => {} },
    isDead: () => false,
    disconnect: () => closedAt.push(performance.now()),
  }) as unknown as Worker; // all that is used of it
  vi.spyOn(cluster, 'fork').mockReturnValue(worker);
  vi.spyOn(cluster, 'workers', 'get').mockReturnValue({ 1: worker });
  const { stop } = superviseWorkers(readConfig({ WORKERS: '1' }), createLog('silent'), () => {});
  const startedAt = performance.now();
  void stop();
  await vi.advanceTimersByTimeAsync(DRAIN_MS);
  expect(closedAt).toEqual([startedAt + DRAIN_MS - ACCEPT_MS]);
});
