import { copyFile, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { send } from '../support/client.ts';
import { ENGINES, type TestEngine, temporaryFolder } from '../support/engines.ts';
import { connectClient, eventually } from '../support/load.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { run, startProcess, type TestProcess } from '../support/process.ts';
import { sendHalf } from './half-sent.ts';
import { twoWorkersOf, workersOf } from './workers-of.ts';

const [sqlite] = ENGINES as [TestEngine]; // always there; processes are the same on each engine
const CLIENTS = 30;

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
  test('a stop ends a worker that is frozen, too', async () => {
    const { gateway, workers } = await startTwo({ SHUTDOWN_GRACE_MS: '100' });
    for (const pid of workers) process.kill(pid, 'SIGSTOP');
    gateway.child.kill('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    for (const pid of workers) await eventually(() => hasEnded(pid), 10_000, 'no frozen one stays behind');
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

  test('a first worker that is killed while it starts ends it, with one line that says so', async () => {
    const prepared = await prepareDatabase(sqlite);
    const env = { DATABASE_URL: prepared.url, WORKERS: '2', LOG_LEVEL: 'error', NODE_OPTIONS: endWorkersIf('true') };
    const gateway = run('main.ts', [], { PORT: '0', ...env });
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
    expect(gateway.stdout()).toMatch(/^\{"level":60,.*"signal":"SIGKILL","msg":"the first worker was killed"\}\n$/);
  });

  test('starts another at once for each worker that has served and is killed', async () => {
    const { gateway, workers, said } = await startTwo();
    let known: readonly number[] = workers;
    let newest: number = workers[0];
    for (let deaths = 1; deaths <= 4; deaths++) {
      await delay(1300);
      process.kill(newest, 'SIGKILL');
      await said(new RegExp(`(?:listening on[\\s\\S]*){${2 + deaths}}`));
      newest = (await workersOf(gateway)).find((pid) => !known.includes(pid)) ?? expect.fail();
      known = [...known, newest];
    }
    expect(waitsOf(gateway)).toEqual([0, 0, 0, 0]);
    gateway.child.kill('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });

  test('waits longer for each worker in a row that ends before it listens, and starts one that does', async () => {
    const broken = join(temporaryFolder(), 'broken');
    const { gateway, workers, said } = await startTwo({ NODE_OPTIONS: endWorkersIf(`existsSync("${broken}")`) });
    await delay(1300);
    await writeFile(broken, '');
    process.kill(workers[0], 'SIGKILL');
    await eventually(() => waitsOf(gateway).length >= 4, 60_000, 'four deaths');
    expect(waitsOf(gateway).slice(0, 4)).toEqual([0, 200, 400, 800]);
    await rm(broken);
    await said(/(?:listening on[\s\S]*){3}/);
    gateway.child.kill('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });

  test('goes on trying when no worker can be started, as while another Node is installed', async () => {
    const node = join(temporaryFolder(), 'node');
    await copyFile(process.execPath, node);
    const { gateway, workers, said } = await startTwo({}, node);
    await rm(node);
    process.kill(workers[0], 'SIGKILL');
    await said(/(?:a worker could not be started[\s\S]*){3}/);
    // A file that is open for writing cannot be run: ETXTBSY, which Node throws, where a missing file is emitted.
    const installing = await open(node, 'w', 0o700);
    await installing.writeFile(await readFile(process.execPath));
    await said(/ETXTBSY/);
    await installing.close();
    await said(/(?:listening on[\s\S]*){3}/);
    gateway.child.kill('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });

  test('SIGHUP, as a closed terminal sends it to all of them, even twice, cuts no request', async () => {
    const { prepared, gateway, workers, said } = await startTwo();
    const halves = await Promise.all(['one', 'two'].map((name) => sendHalf(gateway.url, prepared.key, name)));
    for (const pid of workers) process.kill(pid, 'SIGHUP');
    gateway.child.kill('SIGHUP');
    await said(/(?:"msg":"stopping"[\s\S]*){3}/); // the primary and its workers
    gateway.child.kill('SIGHUP');
    for (const half of halves) expect(await half.finish()).toMatch(/^HTTP\/1.1 201 /);
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });

  test('at a stop every connection that arrives is answered or ended, while a request under way has its time', async () => {
    const { prepared, gateway } = await startTwo({ SHUTDOWN_GRACE_MS: '120000' });
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
    const { prepared, gateway, workers, said } = await startTwo();
    const halves = await Promise.all(['one', 'two'].map((name) => sendHalf(gateway.url, prepared.key, name)));
    gateway.child.kill('SIGKILL');
    await said(/(?:the primary is gone[\s\S]*){2}/);
    for (const half of halves) expect(await half.finish()).toMatch(/^HTTP\/1.1 201 /);
    await eventually(() => workers.every((pid) => !isAlive(pid)), 10_000, 'the workers have ended');
  });
});

/** The option of Node that kills workers when they start, while a condition is true. */
function endWorkersIf(condition: string): string {
  const kill = `if (process.env.GATEWAY_PRIMARY_PID && ${condition}) process.kill(process.pid, "SIGKILL")`;
  return `--import=data:text/javascript,${encodeURIComponent(`import { existsSync } from "node:fs"; ${kill}`)}`;
}

/** How long it waited before each new start, in ms. */
function waitsOf({ stdout }: TestProcess): number[] {
  return [...stdout().matchAll(/"waitMs":(\d+)/g)].map(([, ms]) => Number(ms));
}

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
