import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openSocket, sendRaw } from '../support/client.ts';
import { heldBy } from '../support/cpu-time.ts';
import { SQLITE } from '../support/engines.ts';
import { connectClient, eventually, readFootprint, served } from '../support/load.ts';
import { startPrepared } from '../support/prepared.ts';
import { rawHead } from '../support/raw-requests.ts';

/** More than the clients send, many times; the process ends when it does not suffice. */
const HEAP_MB = 128;
/** A chunk of one byte, which Node makes an object of. As many as the default BODY_LIMIT allows. */
const PIECES = '1\r\n1\r\n'.repeat(65_000);
/** CONTRACT: nothing that anybody sends holds the process for longer. */
const HELD_MAX_MS = 250;
const SMALLEST = 'GET / HTTP/1.1\r\nHost:x\r\n\r\n';
const CHUNKED = 'Host: x\r\nTransfer-Encoding: chunked\r\n';

/** Each makes what clients send that neither read answers nor end their bodies. */
const KINDS: readonly (readonly [what: string, connections: number, send: (asset: string, key: string) => string])[] = [
  [
    'bodies on their way',
    30,
    (_asset, key) => `${rawHead('/v1/pets', key)}Transfer-Encoding: chunked\r\n\r\n${PIECES}`,
  ],
  ['bodies that nobody takes', 30, (asset) => `GET ${asset} HTTP/1.1\r\n${CHUNKED}\r\n${PIECES}`],
  [
    'requests that wait for their turn',
    60,
    (asset) => `GET ${asset} HTTP/1.1\r\nHost: x\r\n\r\n${SMALLEST.repeat(9000)}`,
  ],
  [
    'bodies that wait for their turn',
    60,
    (asset) => `GET ${asset} HTTP/1.1\r\nHost: x\r\n\r\nPOST /graphql HTTP/1.1\r\n${CHUNKED}\r\n${PIECES}`,
  ],
];

test.each(KINDS)(
  '%s, in the smallest pieces, do not exhaust the memory',
  async (_what, connections, send) => {
    const { gateway, key } = await startPrepared(SQLITE, { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` });
    const page = await (await fetch(`${gateway.url}/graphql`, { headers: { accept: 'text/html' } })).text();
    const [asset = ''] = /assets\/\w+\/graphiql\.js/.exec(page) ?? [];
    const bytes = send(`/${asset}`, key);
    for (let connection = 0; connection < connections; connection++) {
      const socket = await openSocket(gateway.port);
      socket.pause();
      socket.write(bytes);
      await delay(20); // what comes within one turn of the event loop is there before anybody can refuse it
    }
    const { ask } = connectClient(gateway.url, key);
    const held: number[] = [];
    const list = async () => expect((await served(() => ask('GET', '/v1/pets?limit=1'))).status).toBe(200);
    // On a busy machine what was sent may still be read, piece by piece, while the first lists wait.
    for (let round = 0; round < 3 || (round < 6 && Math.min(...held) >= HELD_MAX_MS); round++) {
      await delay(1000);
      expect(gateway.stderr()).toBe('');
      held.push(await heldBy(gateway.child.pid ?? 0, list));
    }
    expect(Math.min(...held)).toBeLessThan(HELD_MAX_MS);
    expect(gateway.child.exitCode).toBeNull();
  },
  240_000,
);

test('100 packets of the smallest requests at once hold neither memory nor the others, and are all answered', async () => {
  const { gateway } = await startPrepared(SQLITE, { NODE_OPTIONS: '--max-old-space-size=256' });
  const { ask } = connectClient(gateway.url, 'none');
  for (let round = 0; round < 50; round++) await ask('GET', '/livez');
  const before = await readFootprint(gateway.url);
  const sockets = await Promise.all(Array.from({ length: 100 }, () => openSocket(gateway.port)));
  const smallest = 'GET /nope HTTP/1.1\r\nHost:a\r\n\r\n';
  const requests = Math.floor(65_536 / smallest.length);
  let answers = 0;
  for (const socket of sockets) {
    socket.setEncoding('latin1').on('data', (text: string) => (answers += text.split('"code":"not_found"').length - 1));
    socket.write(smallest.repeat(requests));
  }
  let most = 0;
  const held: number[] = [];
  const probe = async () => expect((await ask('GET', '/livez')).status).toBe(200);
  for (let round = 0; round < 10; round++) {
    held.push(await heldBy(gateway.child.pid ?? 0, probe));
    most = Math.max(most, (await readFootprint(gateway.url)).residentMb);
  }
  // On a busy machine one of them may meet the collection of all that was read.
  expect(held.filter((ms) => ms >= HELD_MAX_MS).length, held.join(' ')).toBeLessThan(2);
  expect(most - before.residentMb).toBeLessThan(150);
  for (const socket of sockets.slice(3)) socket.destroy();
  answers = 0;
  await eventually(() => answers > 1000, 30_000, 'the others are answered');
  expect(gateway.child.exitCode).toBeNull();
}, 240_000);

test('headers of 2,490 lines that differ, two on each of 1,300 connections, do not exhaust a heap of 256 MB', async () => {
  const { gateway } = await startPrepared(SQLITE, { NODE_OPTIONS: '--max-old-space-size=256' });
  const page = await (await fetch(`${gateway.url}/graphql`, { headers: { accept: 'text/html' } })).text();
  const [asset = ''] = /assets\/\w+\/graphiql\.js/.exec(page) ?? [];
  const lines = Array.from({ length: 2490 }, (_, n) => `a${n.toString(36)}:x\r\n`).join(''); // short: a header has 16 kB at most
  const head = (path: string) => `GET /${path} HTTP/1.1\r\nHost: x\r\n${lines}\r\n`;
  const bytes = head(asset) + head('livez'); // the one is answered and not read, the other waits: both are kept
  const sockets: Socket[] = [];
  for (let connection = 0; connection < 1300; connection++) {
    const socket = await openSocket(gateway.port);
    socket.pause();
    socket.write(bytes);
    sockets.push(socket);
  }
  await delay(1000);
  for (const socket of sockets) socket.destroy();
  const answers = async () => (await sendRaw(gateway.port, SMALLEST)).startsWith('HTTP/1.1 200 ');
  await eventually(answers, 30_000, 'it answers');
  expect(gateway.stderr()).toBe('');
  expect(gateway.child.exitCode).toBeNull();
});
