import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { DRAIN_MS } from '../../src/gateway/deadlines.ts';
import { send, sendHead, sendRaw } from '../support/client.ts';
import { describeEachEngine, SQLITE, temporaryFolder } from '../support/engines.ts';
import { eventually } from '../support/load.ts';
import { openFiles } from '../support/open-files.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { startProcess } from '../support/process.ts';
import { FAULT_SIGNALS, LAST_RESORT, startTwo, twoWorkersOf, WITH_FAULTS, workersOf } from './workers-of.ts';

/** Lets both workers serve: every request on a connection of its own. */
async function askApart(url: string, key: string, count: number): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, connection: 'close' };
  for (let round = 0; round < count; round++) expect((await send(`${url}/v1/pets/1`, { headers })).status).toBe(404);
}

describeEachEngine('WORKERS=2', (engine) => {
  test('a worker that begins later has the settings of the start, whatever .env and DATABASE_URL_FILE say by then', async () => {
    const { url, key } = await prepareDatabase(engine);
    const DATABASE_URL_FILE = join(temporaryFolder(), 'url');
    await writeFile(DATABASE_URL_FILE, url);
    const gateway = await startProcess({ DATABASE_URL: '', DATABASE_URL_FILE, WORKERS: '2' });
    await gateway.waitFor(/(?:listening on[\s\S]*){2}/);
    const before = await twoWorkersOf(gateway);
    await writeFile(DATABASE_URL_FILE, 'sqlite:another.sqlite');
    await writeFile(join(gateway.folder, '.env'), 'RATE_LIMIT: 1/1h\nBODY_LIMIT=1024\n');
    for (const pid of before) process.kill(pid, 'SIGKILL');
    await twoWorkersOf(gateway, before);
    await gateway.waitFor(/(?:listening on[\s\S]*){4}/);
    await askApart(gateway.url, key, 4);
  });

  test('a request that is at work when the primary closes the ports is answered, and its use is counted', async () => {
    const { prepared, gateway } = await startTwo(engine, { SHUTDOWN_GRACE_MS: '60000' }); // more than passes before the body comes
    const { port } = gateway;
    const body = '{"query":"{ pet(id: 1) { id } }"}';
    const socket = await sendHead(port, '/graphql', prepared.key, body);
    const answer = text(socket);
    gateway.child.kill('SIGTERM');
    const probe = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';
    await eventually(async () => (await sendRaw(port, probe)) === '', 10_000, 'no port is open');
    await delay(DRAIN_MS); // the workers have heard of it
    socket.write(body);
    expect(await answer).toContain('{"data":{"pet":null}}');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    expect(await prepared.database.knex('deprecated_use').pluck('uses')).toEqual([1]);
  });
});

test.each([
  ['is killed', 'SIGKILL', /"signal":"SIGKILL".*a worker died; starting another/],
  ['has a fault', FAULT_SIGNALS[0], LAST_RESORT],
])('a worker that %s is replaced; the other one serves meanwhile', async (_how, signal, told) => {
  const { prepared, gateway, workers } = await startTwo(SQLITE, WITH_FAULTS);
  const [first, second] = workers;
  process.kill(first, signal);
  await eventually(async () => !(await workersOf(gateway)).includes(first), 10_000, 'it is dead');
  await askApart(gateway.url, prepared.key, 10);
  expect(await twoWorkersOf(gateway, [first])).toContain(second);
  await gateway.waitFor(told);
  await gateway.waitFor(/(?:listening on[\s\S]*){3}/);
  await askApart(gateway.url, prepared.key, 10);
  await gateway.stop();
});

test('the primary leaves the database to its workers', async () => {
  const { prepared, gateway, workers } = await startTwo(SQLITE);
  const [worker] = workers;
  const opened = (pid: number | undefined) => openFiles(pid, prepared.url.slice('sqlite:'.length));
  await eventually(() => opened(worker).length > 0, 10_000, 'a worker has the store open');
  expect(await eventually(() => opened(gateway.child.pid).length === 0, 10_000, 'the primary has not')).toBe(true);
});
