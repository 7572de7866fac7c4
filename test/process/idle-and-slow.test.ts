import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openSocket, sendRaw } from '../support/client.ts';
import { COLLECTING, readCollected } from '../support/collected.ts';
import { SQLITE } from '../support/engines.ts';
import { connectClient, eventually, isShed, petBody, readFootprint, served } from '../support/load.ts';
import { startPrepared } from '../support/prepared.ts';
import { rawPost } from '../support/raw-requests.ts';
import { msSince } from '../support/stall-clock.ts';

const IDLE = 1000;
const COST_AT_MOST_MB = 60;
/** The header must be there within 10 s of the connection; the gateway looks every 2 s. */
const HEADER_WITHIN_MS = 10_000;
/** Less than RECEIVE_MS, and more than a gateway that is held up for some seconds takes. */
const CLOSED_WITHIN_MS = HEADER_WITHIN_MS + 10_000;

const start = () => startPrepared(SQLITE, { NODE_OPTIONS: `--max-semi-space-size=8 ${COLLECTING}` });

test(`${IDLE} idle connections cost little, and the next request is served`, async () => {
  const { gateway, key } = await start();
  const client = connectClient(gateway.url, key);
  for (let round = 0; round < 50; round++) await client.ask('GET', '/v1/pets');
  const before = await readCollected(gateway);
  const sockets = await Promise.all(Array.from({ length: IDLE }, () => openSocket(gateway.port)));
  // Half of them have made a request before: kept connections are idle in another way.
  const used = sockets.filter((_, index) => index % 2 === 0);
  for (const socket of used) socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  await Promise.all(used.map((socket) => once(socket, 'data')));
  const all = async () => {
    const now = await readFootprint(gateway.url);
    return now.openFiles - before.openFiles >= IDLE;
  };
  await eventually(all, 5000, 'all connections are counted');
  const after = await readCollected(gateway, (now) => now.residentMb - before.residentMb < COST_AT_MOST_MB);
  expect(after.residentMb - before.residentMb).toBeLessThan(COST_AT_MOST_MB);
  const create = async () => {
    const { status, ms } = await served(() => client.ask('POST', '/v1/pets', petBody('served')));
    expect(status).toBe(201);
    return ms;
  };
  expect(Math.min(await create(), await create())).toBeLessThan(3000); // the machine may hold up one of them
  for (const socket of sockets) socket.destroy();
  const closed = async () => (await readFootprint(gateway.url)).openFiles < before.openFiles + 20;
  await eventually(closed, 20_000, 'the connections are given back');
});

test('clients that send their header a byte at a time are closed with 400; others are served meanwhile', async () => {
  const { gateway, key } = await start();
  const startedAt = performance.now();
  const slow = Array.from({ length: 50 }, async () => {
    const socket = await openSocket(gateway.port);
    let received = '';
    socket.on('data', (text) => {
      received += text;
    });
    socket.write('GET /v1/pets HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    const drip = setInterval(() => socket.writable && socket.write('x'), 500);
    await once(socket, 'close');
    clearInterval(drip);
    return { received, ms: performance.now() - startedAt, ownMs: msSince(startedAt) };
  });
  const client = connectClient(gateway.url, key);
  let held = 0;
  for (let round = 0; round < 20; round++) {
    const answer = await client.ask('GET', '/v1/pets');
    expect(answer.status).toBe(200);
    if (answer.ms >= 3000) held++;
    await delay(100);
  }
  expect(held).toBeLessThanOrEqual(1); // one may meet a pause of the machine
  for (const { received, ms, ownMs } of await Promise.all(slow)) {
    expect(received).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"bad_request"/);
    expect(ms).toBeGreaterThan(HEADER_WITHIN_MS - 500);
    expect(ownMs).toBeLessThan(CLOSED_WITHIN_MS);
  }
});

test('a process that was held up sheds load as 503 with Retry-After, and heals at once', async () => {
  const { gateway, key } = await start();
  const client = connectClient(gateway.url, key);
  expect((await client.ask('GET', '/v1/pets')).status).toBe(200);
  const close = 'Connection: close\r\n';
  const create = rawPost('/v1/pets', key, petBody('held up'), close);
  const pause = async () => {
    gateway.child.kill('SIGSTOP');
    await delay(1700);
    gateway.child.kill('SIGCONT');
  };
  const isShedding = async () => {
    // One pause is no overload, several in a second of its own time are: on a loaded machine it may be later.
    for (let pauses = 0; pauses < 3; pauses++) {
      await pause();
      await delay(50);
    }
    const paused = pause();
    const held = Array.from({ length: 50 }, () => sendRaw(gateway.port, create));
    const probe = sendRaw(gateway.port, `GET /livez HTTP/1.1\r\nHost: x\r\n${close}\r\n`);
    await paused;
    const answers = await Promise.all(held);
    for (const text of answers) {
      expect(text).toMatch(/^HTTP\/1\.1 (?:201 |(?:429|503) [\s\S]*\r\nRetry-After: 1\r\n)/i);
      if (text.startsWith('HTTP/1.1 429 ')) expect(isShed(text)).toBe(true); // it has waited for its share in a pause
    }
    expect(await probe).toMatch(/^HTTP\/1\.1 200 /);
    return answers.some((text) => text.startsWith('HTTP/1.1 503 '));
  };
  await eventually(isShedding, 60_000, 'some are shed');
  await eventually(async () => (await client.ask('GET', '/v1/pets')).status === 200, 3000, 'it serves again');
});
