import { copyFile, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, test } from 'vitest';
import { send } from '../support/client.ts';
import { ENGINES, type TestEngine, temporaryFolder } from '../support/engines.ts';
import { connectClient, eventually } from '../support/load.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { startProcess } from '../support/process.ts';
import { sendHalf } from './half-sent.ts';
import { twoWorkersOf, workersOf } from './workers-of.ts';

const [sqlite] = ENGINES as [TestEngine]; // always there; processes are the same on each engine
const CLIENTS = 30;
/** After this time a worker's death is no failed start. */
const SETTLED_MS = 10_000;

/** Two workers, the first one first. */
async function startTwo(env: Record<string, string> = {}, node?: string) {
  const prepared = await prepareDatabase(sqlite);
  const gateway = await startProcess({ DATABASE_URL: prepared.url, WORKERS: '2', ...env }, undefined, node);
  await gateway.waitFor(/(?:listening on[\s\S]*){2}/);
  const workers = await twoWorkersOf(gateway);
  expect(workers).toHaveLength(2);
  const said = (pattern: RegExp, limitMs = 60_000) =>
    eventually(() => pattern.test(gateway.stdout()), limitMs, String(pattern));
  return { prepared, gateway, workers, said };
}

describe('the primary', { timeout: 180_000 }, () => {
  test.each([
    ['SIGHUP replaces', 'SIGHUP', 2],
    ['a stop ends', 'SIGTERM', 0],
  ] as const)('%s a worker that is frozen, too', async (_what, signal, left) => {
    const { gateway, workers, said } = await startTwo({ SHUTDOWN_GRACE_MS: '100' });
    for (const pid of workers) process.kill(pid, 'SIGSTOP');
    gateway.child.kill(signal);
    if (signal === 'SIGHUP') await said(/all workers are replaced/, 120_000);
    else await gateway.exited;
    for (const pid of workers) await eventually(() => hasEnded(pid), 10_000, 'no frozen one stays behind');
    if (left > 0) await eventually(async () => (await workersOf(gateway)).length === left, 10_000, 'two serve');
  });

  test('goes on when a worker dies that is owed counts of a rate limit', async () => {
    const { prepared, gateway, workers, said } = await startTwo({ RATE_LIMIT: '100000/1m' });
    const clients = Array.from({ length: CLIENTS }, () => connectClient(gateway.url, prepared.key));
    const askAll = () => Promise.all(clients.map(({ ask }) => ask('GET', '/v1/pets')));
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
    gateway.child.kill('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });

  // 1: a dead one is replaced by itself, and the other one by the reload. 0: the one that was to take the place of the dead
  // one listens, and leaves again.
  it.each([1, 0] as const)('SIGHUP while worker %i dies: two new ones serve in the end', async (dying) => {
    const { gateway, workers, said } = await startTwo();
    gateway.child.kill('SIGHUP');
    await said(/replacing the workers/);
    process.kill(workers[dying], 'SIGKILL');
    await said(/all workers are replaced/);
    await said(/(?:listening on[\s\S]*){4}/);
    await twoWorkersOf(gateway, workers);
    gateway.child.kill('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });

  test('starts another at once for a worker that lived, and waits longer for each that dies early', async () => {
    const { gateway, workers } = await startTwo();
    const waits = () => [...gateway.stdout().matchAll(/"waitMs":(\d+)/g)].map(([, ms]) => Number(ms));
    await delay(SETTLED_MS + 500);
    let known: readonly number[] = workers;
    process.kill(workers[0], 'SIGKILL');
    for (let deaths = 1; deaths <= 2; deaths++) {
      const isNew = async () => (await workersOf(gateway)).find((pid) => !known.includes(pid));
      const born = await eventually(isNew, 60_000, 'another worker');
      known = [...known, born];
      process.kill(born, 'SIGKILL'); // long before it has lived so long
    }
    await eventually(() => waits().length === 3, 60_000, 'three deaths');
    expect(waits()).toEqual([0, 200, 400]);
    gateway.child.kill('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });

  test('goes on trying when no worker can be started, as while another Node is installed', async () => {
    const node = join(temporaryFolder(), 'node');
    await copyFile(process.execPath, node);
    const { gateway, workers, said } = await startTwo({}, node);
    await rm(node);
    gateway.child.kill('SIGHUP');
    await said(/a new worker did not start/);
    process.kill(workers[0], 'SIGKILL');
    await said(/(?:a worker could not be started[\s\S]*){3}/);
    // A file that is open for writing cannot be run: ETXTBSY, which Node throws, where a missing file is emitted.
    const installing = await open(node, 'w', 0o700);
    await installing.writeFile(await readFile(process.execPath));
    await said(/ETXTBSY/);
    gateway.child.kill('SIGHUP');
    await said(/(?:a new worker did not start[\s\S]*){2}/);
    await installing.close();
    await said(/(?:listening on[\s\S]*){3}/);
    gateway.child.kill('SIGHUP');
    await said(/all workers are replaced/);
    gateway.child.kill('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });

  test('SIGTERM during a reload cuts no request of a worker that drains', async () => {
    const { prepared, gateway, said } = await startTwo();
    const halves = await Promise.all(['one', 'two'].map((name) => sendHalf(gateway.url, prepared.key, name)));
    gateway.child.kill('SIGHUP');
    await said(/"msg":"stopping"/); // the first worker, when its replacement listens
    gateway.child.kill('SIGTERM');
    await said(/(?:"msg":"stopping"[\s\S]*){4}/); // the primary, the second worker, the replacement
    for (const half of halves) expect(await half.finish()).toMatch(/^HTTP\/1.1 201 /);
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });

  test('when it is killed, its workers drain', async () => {
    const { prepared, gateway, workers, said } = await startTwo();
    const halves = await Promise.all(['one', 'two'].map((name) => sendHalf(gateway.url, prepared.key, name)));
    gateway.child.kill('SIGKILL');
    await said(/(?:the primary is gone[\s\S]*){2}/);
    for (const half of halves) expect(await half.finish()).toMatch(/^HTTP\/1.1 201 /);
    await eventually(() => workers.every((pid) => !isAlive(pid)), 10_000, 'the workers have ended');
  });
});

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
