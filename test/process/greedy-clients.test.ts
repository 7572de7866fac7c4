import { execFileSync } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { expect, test } from 'vitest';
import { openSocket } from '../support/client.ts';
import { describeOnMysql, SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { connectClient, eventually, readFootprint } from '../support/load.ts';
import { startPrepared } from '../support/prepared.ts';
import { RETRY_LATE } from '../support/stall-clock.ts';

/** Each would hold some 13 MB, were the answer made anew for it. */
const READERS = 60;

/** The path of the largest asset: GraphiQL's script, of some megabytes. */
async function largestAsset(url: string): Promise<string> {
  const page = await (await fetch(`${url}/graphql`, { headers: { accept: 'text/html' } })).text();
  const [path = ''] = /assets\/\w+\/graphiql\.js/.exec(page) ?? [];
  return `/${path}`;
}

/** A client that sends a request and never reads the answer. */
async function stall(port: number, path: string): Promise<Socket> {
  const socket = await openSocket(port);
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  return socket;
}

test(`${READERS} readers that do not read share one copy of what they asked for`, async () => {
  const { gateway } = await startPrepared(SQLITE);
  const asset = await largestAsset(gateway.url);
  const size = (await (await fetch(gateway.url + asset, { headers: { 'accept-encoding': 'identity' } })).arrayBuffer())
    .byteLength;
  expect(size).toBeGreaterThan(2 ** 20);
  const before = await readFootprint(gateway.url);
  const sockets = await Promise.all(Array.from({ length: READERS }, () => stall(gateway.port, asset)));
  const all = async () => {
    const now = await readFootprint(gateway.url);
    return now.openFiles > before.openFiles + READERS - 10 && now; // connections of fetch, kept before, end meanwhile
  };
  const during = await eventually(all, 20_000, 'all readers are there');
  expect(during.residentMb - before.residentMb).toBeLessThan(100);
  for (const socket of sockets) socket.destroy();
}, 240_000);

test('a connection on which nothing moves is ended when its client does not read the answer that it has', async () => {
  const gateway = await startGateway(SQLITE, {}, { timeout: 500 });
  const asset = await largestAsset(gateway.url);
  await stall(gateway.port, asset);
  const isEnded = () => gateway.logs.some(({ path, aborted }) => path === asset && aborted === true);
  expect(await eventually(isEnded, 15_000, 'the connection is ended')).toBe(true);
});

describeOnMysql('a connection on which nothing moves', (engine) => {
  // Held up for a second or two, the request would wait for the lock for longer than it may.
  test('is left alone while its request waits for its answer', RETRY_LATE, async () => {
    const url = await engine.freshDatabase();
    const gateway = await startGateway(engine, { DATABASE_URL: url }, { timeout: 50 });
    const admin = await mysql.createConnection(url);
    await admin.query('LOCK TABLES pets WRITE');
    const answer = gateway.request('/v1/pets');
    await delay(300); // six times what ends a connection of the other kind, and less than a statement waits for a lock
    await admin.query('UNLOCK TABLES');
    await admin.end();
    expect((await answer).status, 'late').toBe(200);
  });
});

test('an asset that a client has is not sent again, and HEAD tells its length', async () => {
  const gateway = await startGateway(SQLITE);
  const asset = await largestAsset(gateway.url);
  const { ask } = connectClient(gateway.url, gateway.key);
  const head = await ask('HEAD', asset);
  const same = await ask('GET', asset, undefined, { 'if-none-match': String(head.headers.etag) });
  expect([head.status, same.status]).toEqual([200, 304]);
  const whole = await ask('GET', asset);
  expect(Number(head.headers['content-length'])).toBe(Buffer.byteLength(whole.text));
});

test('200 CONNECTs that are reset at once, and no file descriptor left: the process serves on', async () => {
  const { gateway, key } = await startPrepared(SQLITE);
  for (let round = 0; round < 200; round++) {
    const socket = await openSocket(gateway.port);
    socket.write('CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n');
    if (round % 2 === 0) await delay(1);
    socket.resetAndDestroy();
  }
  execFileSync('prlimit', ['--pid', String(gateway.child.pid), '--nofile=40:40']);
  const sockets = Array.from({ length: 60 }, () => connect(gateway.port, '127.0.0.1').on('error', () => {})); // some are not taken
  await delay(500);
  for (const socket of sockets) socket.destroy();
  const headers = { authorization: `Bearer ${key}` };
  const serves = async () => (await fetch(`${gateway.url}/v1/pets`, { headers }).catch(() => {}))?.status === 200;
  await eventually(serves, 5000, 'it serves again');
  expect(gateway.stderr()).toBe('');
  expect(gateway.stdout()).not.toContain('a fault that nothing caught');
});
