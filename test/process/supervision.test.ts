import { once } from 'node:events';
import { copyFile, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ONE_SIGNAL_MS } from '../../src/gateway/command-line.ts';
import { send } from '../support/client.ts';
import { SQLITE, temporaryFolder } from '../support/engines.ts';
import { connectClient, eventually, sumMetric, unlessShed } from '../support/load.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { run } from '../support/process.ts';
import { sendHalf } from './half-sent.ts';
import { startTwo } from './workers-of.ts';

const CLIENTS = 30;

describe('the primary', { timeout: 180_000 }, () => {
  test('a stop ends a worker that is frozen, too', async () => {
    const { gateway, workers } = await startTwo(SQLITE, { SHUTDOWN_GRACE_MS: '100' });
    for (const pid of workers) process.kill(pid, 'SIGSTOP');
    await gateway.stop();
    for (const pid of workers) await eventually(() => hasEnded(pid), 10_000, 'no frozen one stays behind');
    expect(gateway.stderr()).toBe(''); // where Node warns of a negative timer
  });

  test('goes on when a worker dies that is owed counts of a rate limit', async () => {
    const { prepared, gateway, workers, said } = await startTwo(SQLITE, { RATE_LIMIT: '100000/1m' });
    const clients = Array.from({ length: CLIENTS }, () => connectClient(gateway.url, prepared.key));
    const askAll = () => Promise.all(clients.map(({ ask }) => unlessShed(() => ask('GET', '/v1/pets?limit=1'))));
    for (const { status } of await askAll()) expect(status).toBe(200);
    gateway.child.kill('SIGSTOP');
    // Answered without a count, because nobody gives one in time: all questions are in the pipe by then.
    for (const { status } of await askAll()) expect(status).toBe(200);
    process.kill(workers[0], 'SIGKILL');
    await eventually(() => isZombie(workers[0]), 10_000, 'its pipe has no reader');
    gateway.child.kill('SIGCONT');
    await said(/a message did not reach a worker/);
    await said(/(?:listening on[\s\S]*){3}/);
    expect((await send(`${gateway.url}/livez`)).status).toBe(200);
    await gateway.stop();
  });

  test('a first worker that is killed while it starts ends it, with one line that says so', async () => {
    const prepared = await prepareDatabase(SQLITE);
    const env = { DATABASE_URL: prepared.url, WORKERS: '2', LOG_LEVEL: 'error', NODE_OPTIONS: END_WORKERS };
    const gateway = run('main.ts', [], { PORT: '0', ...env });
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
    expect(gateway.stdout()).toMatch(/^\{"level":60,.*"signal":"SIGKILL","msg":"the first worker was killed"\}\n$/);
  });

  test('goes on trying when no worker can be started, as while another Node is installed', async () => {
    const node = join(temporaryFolder(), 'node');
    await copyFile(process.execPath, node);
    const { gateway, workers, said } = await startTwo(SQLITE, {}, node);
    await rm(node);
    process.kill(workers[0], 'SIGKILL');
    await said(/(?:a worker could not be started[\s\S]*){3}/);
    // A file that is open for writing cannot be run: ETXTBSY, which Node throws, where a missing file is emitted.
    const installing = await open(node, 'w', 0o700);
    await installing.writeFile(await readFile(process.execPath));
    await said(/ETXTBSY/);
    await installing.close();
    await said(/(?:listening on[\s\S]*){3}/);
    process.kill(workers[1], 'SIGTERM');
    await said(/(?:listening on[\s\S]*){4}/);
    // Each is counted, as PetstoreRestarts watches it, whether it was killed, is missing or cannot be run; but not a good end.
    const isDeath = (line: string) => line.includes('"waitMs":') && !line.includes('"code":0,');
    const deaths = gateway.stdout().split('\n').filter(isDeath).length;
    const counted = async () => sumMetric((await send(`${gateway.url}/metrics`)).text, 'workers_died_total') === deaths;
    await eventually(counted, 10_000, `${deaths} deaths`);
    await gateway.stop();
  });

  test('SIGHUP, as a closed terminal sends it to all of them, even twice, cuts no request', async () => {
    const { prepared, gateway, workers, said } = await startTwo(SQLITE);
    const halves = await Promise.all(['one', 'two'].map((name) => sendHalf(gateway.url, prepared.key, name)));
    for (const pid of workers) process.kill(pid, 'SIGHUP');
    gateway.child.kill('SIGHUP');
    await said(/(?:"msg":"stopping"[\s\S]*){3}/); // the primary and its workers
    gateway.child.kill('SIGHUP');
    for (const half of halves) expect(await half.finish()).toMatch(/^HTTP\/1.1 201 /);
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });

  test('SIGTERM, as it is sent to a group of processes, cuts no request', async () => {
    const { prepared, gateway, workers, said } = await startTwo(SQLITE);
    const halves = await Promise.all(['one', 'two'].map((name) => sendHalf(gateway.url, prepared.key, name)));
    for (const pid of workers) process.kill(pid, 'SIGTERM');
    await said(/(?:"msg":"stopping"[\s\S]*){2}/);
    gateway.child.kill('SIGTERM');
    await said(/(?:"msg":"stopping"[\s\S]*){3}/);
    for (const half of halves) expect(await half.finish()).toMatch(/^HTTP\/1.1 201 /);
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('a second %s to all of them ends all of them at once', async (signal) => {
    const { prepared, gateway, workers, said } = await startTwo(SQLITE, { SHUTDOWN_GRACE_MS: '60000' });
    for (const name of ['one', 'two']) await sendHalf(gateway.url, prepared.key, name);
    const signalAll = () => {
      for (const pid of workers) process.kill(pid, signal);
      gateway.child.kill(signal);
    };
    signalAll();
    await said(/(?:"msg":"stopping"[\s\S]*){3}/);
    await delay(ONE_SIGNAL_MS + 50);
    const exited = once(gateway.child, 'exit'); // `gateway.exited` waits for its workers, too
    signalAll();
    expect(await exited).toEqual([1, null]);
    for (const pid of workers) await eventually(() => hasEnded(pid), 10_000, 'no worker goes on');
  });

  test('at a stop every connection that arrives is answered or ended, while a request under way has its time', async () => {
    const { prepared, gateway } = await startTwo(SQLITE, { SHUTDOWN_GRACE_MS: '120000' });
    const half = await sendHalf(gateway.url, prepared.key, 'under way');
    let isRefused = false;
    const client = async () => {
      while (!isRefused) {
        const headers = { connection: 'close' };
        await send(`${gateway.url}/livez`, { headers }).catch((error) => {
          isRefused ||= error.cause?.code === 'ECONNREFUSED';
        });
      }
    };
    const clients = Array.from({ length: CLIENTS }, client);
    gateway.child.kill('SIGTERM');
    await Promise.all(clients);
    expect(await half.finish()).toMatch(/^HTTP\/1.1 201 /);
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });

  test('when it is killed, its workers drain', async () => {
    const { prepared, gateway, workers, said } = await startTwo(SQLITE);
    const halves = await Promise.all(['one', 'two'].map((name) => sendHalf(gateway.url, prepared.key, name)));
    gateway.child.kill('SIGKILL');
    await said(/(?:the primary is gone[\s\S]*){2}/);
    for (const half of halves) expect(await half.finish()).toMatch(/^HTTP\/1.1 201 /);
    await eventually(() => workers.every((pid) => !isAlive(pid)), 10_000, 'the workers have ended');
  });
});

/** The option of Node that kills workers when they start. */
const END_WORKERS = `--import=data:text/javascript,${encodeURIComponent('if (process.env.GATEWAY_PRIMARY_PID) process.kill(process.pid, "SIGKILL")')}`;

/** Whether a process has ended, all its threads with it, and its parent has not asked about it yet, as Linux tells it. */
async function hasEnded(pid: number): Promise<boolean> {
  return isZombie(pid).catch(() => true); // its folder in /proc is gone
}

async function isZombie(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return /^State:\tZ/m.test(status) && /^Threads:\t1$/m.test(status);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
