import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { describe, expect, it, test } from 'vitest';
import { send } from '../support/client.ts';
import { ENGINES, type TestEngine } from '../support/engines.ts';
import { eventually, petBody, sumMetric } from '../support/load.ts';
import { type PreparedDatabase, prepareDatabase } from '../support/prepared.ts';
import { startProcess, type TestProcess } from '../support/process.ts';
import { msSince } from '../support/stall-clock.ts';
import { twoWorkersOf, workerOf, workersOf } from './workers-of.ts';

const [sqlite] = ENGINES as [TestEngine]; // always there; processes are the same on each engine
/** Signals that make a serving process fail as no request is known to. */
const FAULTS = `
process.on('SIGUSR2', () => setImmediate(() => { throw new Error('a fault on purpose'); }));
process.on('SIGPWR', () => { Promise.reject(new Error('a fault on purpose')); });`;
const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(FAULTS)}`;
const LAST_RESORT = /"level":60.*a fault on purpose.*a fault that nothing caught; stopping/;

const start = ({ url }: PreparedDatabase, env: Record<string, string> = {}): Promise<TestProcess & { url: string }> =>
  startProcess({ DATABASE_URL: url, NODE_OPTIONS, ...env });

describe('a fault that nothing catches', () => {
  it.each(['SIGUSR2', 'SIGPWR'] as const)('%s: it is logged, requests under way end, exit code 1', async (signal) => {
    const prepared = await prepareDatabase(sqlite);
    const gateway = await start(prepared);
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    const body = petBody('under way');
    socket.write(
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${prepared.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
    );
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 100 /); // the gateway works on it
    gateway.child.kill(signal);
    await gateway.waitFor(LAST_RESORT);
    socket.write(body);
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 201 /);
    socket.end();
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
  });

  test('in a worker: the primary starts another', async () => {
    const prepared = await prepareDatabase(sqlite);
    const gateway = await start(prepared, { WORKERS: '2' });
    await gateway.waitFor(/(?:listening on[\s\S]*){2}/);
    const [first, second] = await twoWorkersOf(gateway);
    process.kill(first, 'SIGUSR2');
    await gateway.waitFor(LAST_RESORT);
    await gateway.waitFor(/(?:listening on[\s\S]*){3}/);
    const workers = await workersOf(gateway);
    expect(workers).toHaveLength(2);
    expect([workers.includes(first), workers.includes(second)]).toEqual([false, true]);
    gateway.child.kill('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });
});

test('the metrics of a worker that is dead are not counted on', async () => {
  const prepared = await prepareDatabase(sqlite);
  const gateway = await start(prepared, { WORKERS: '2' });
  await gateway.waitFor(/(?:listening on[\s\S]*){2}/);
  const metrics = async () => (await send(`${gateway.url}/metrics`, { headers: { connection: 'close' } })).text;
  const first = await workerOf(gateway);
  const [, most] = (await readFile(`/proc/${first}/limits`, 'utf8')).match(/^Max open files +(\d+)/m) ?? [];
  // The same for every process, so the sum over all tells how many they are.
  const processes = async () => sumMetric(await metrics(), 'process_max_fds') / Number(most);
  await eventually(async () => (await processes()) === 2, 10_000, 'both are counted');
  process.kill(first, 'SIGKILL');
  await gateway.waitFor(/(?:listening on[\s\S]*){3}/);
  await eventually(async () => (await processes()) === 2, 10_000, 'the new one is counted, and the dead one is not');
  gateway.child.kill('SIGTERM');
  expect(await gateway.exited).toEqual({ code: 0, signal: null });
});

test('the metrics of two workers of which one does not answer come in time, with its last ones', async () => {
  const prepared = await prepareDatabase(sqlite);
  const gateway = await start(prepared, { WORKERS: '2' });
  await gateway.waitFor(/(?:listening on[\s\S]*){2}/);
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
