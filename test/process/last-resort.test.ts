import { describe, expect, it, test } from 'vitest';
import { send } from '../support/client.ts';
import { SQLITE } from '../support/engines.ts';
import { eventually, sumMetric } from '../support/load.ts';
import { startPrepared } from '../support/prepared.ts';
import { msSince } from '../support/stall-clock.ts';
import { sendHalf } from './half-sent.ts';
import { startTwo, workerOf, workersOf } from './workers-of.ts';

/** Signals that make a serving process fail as no request is known to. */
const FAULTS = `
process.on('SIGUSR2', () => setImmediate(() => { throw new Error('a fault on purpose'); }));
process.on('SIGPWR', () => { Promise.reject(new Error('a fault on purpose')); });`;
const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(FAULTS)}`;
const LAST_RESORT = /"level":60.*a fault on purpose.*a fault that nothing caught; stopping/;

describe('a fault that nothing catches', () => {
  it.each(['SIGUSR2', 'SIGPWR'] as const)('%s: it is logged, requests under way end, exit code 1', async (signal) => {
    const { gateway, key } = await startPrepared(SQLITE, { NODE_OPTIONS });
    const half = await sendHalf(gateway.url, key, 'under way');
    gateway.child.kill(signal);
    await gateway.waitFor(LAST_RESORT);
    expect(await half.finish()).toMatch(/^HTTP\/1.1 201 /);
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
  });

  test('in a worker: the primary starts another', async () => {
    const { gateway, workers: before } = await startTwo(SQLITE, { NODE_OPTIONS });
    const [first, second] = before;
    process.kill(first, 'SIGUSR2');
    await gateway.waitFor(LAST_RESORT);
    await gateway.waitFor(/(?:listening on[\s\S]*){3}/);
    const workers = await workersOf(gateway);
    expect(workers).toHaveLength(2);
    expect([workers.includes(first), workers.includes(second)]).toEqual([false, true]);
    await gateway.stop();
  });
});

test('the metrics of two workers of which one does not answer come in time, with its last ones', async () => {
  const { gateway } = await startTwo(SQLITE);
  const ask = async (path: string) => {
    const { status, text } = await send(gateway.url + path, { headers: { connection: 'close' } });
    if (status !== 200) throw new Error(text);
    return text;
  };
  for (let round = 0; round < 10; round++) await ask('/livez');
  const counted = (page: string) => sumMetric(page, 'http_request_duration_seconds_count', 'operation="livez"');
  await eventually(async () => counted(await ask('/metrics')) === 10, 5000, 'all are counted');
  await Promise.all(Array.from({ length: 60 }, () => ask('/metrics')));
  const silent = await workerOf(gateway);
  process.kill(silent, 'SIGSTOP');
  // Connections that the silent one was given wait; one that the other was given is answered.
  const startedAt = performance.now();
  const askAll = () => Promise.any(Array.from({ length: 6 }, () => ask('/metrics'))).catch(() => undefined);
  const page = await eventually(askAll, 5000, 'the metrics');
  const ms = msSince(startedAt);
  process.kill(silent, 'SIGCONT');
  expect(counted(page)).toBe(10);
  expect(ms).toBeLessThan(5000);
  gateway.child.kill('SIGTERM');
  await gateway.exited;
  expect(gateway.stderr()).toBe(''); // no warning of too many listeners
});
