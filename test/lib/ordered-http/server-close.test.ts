import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openSocket, sendRaw } from '../../support/client.ts';
import { startSilent } from '../../support/served-app.ts';
import { msSince } from '../../support/stall-clock.ts';
import { startOrdered } from './ordered-server.ts';

const GET = 'GET /first HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
const TIMES = { graceMs: 20_000, drainMs: 300, acceptMs: 100, idleMs: 100 };

test('a server that closes takes requests, old and new connections, until drainMs have gone; one at work ends', async () => {
  const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
  const { port, close } = await startOrdered({
    serve: ({ url }, response) => void (url === '/slow' ? isFree.then(() => response.end(url)) : response.end(url)),
  });
  const [slow, old] = [await openSocket(port), await openSocket(port)];
  const answers = [slow, old].map(text);
  slow.write(GET.replace('/first', '/slow'));
  let isClosed = false;
  const closing = close(TIMES).then(() => {
    isClosed = true;
  });
  expect(await sendRaw(port, GET)).toMatch(/\/first$/);
  old.write(GET);
  expect(await answers[1]).toMatch(/\/first$/);
  await expect.poll(() => sendRaw(port, GET)).toBe(''); // it is refused
  expect(isClosed).toBe(false);
  free();
  expect(await answers[0]).toMatch(/\/slow$/);
  await closing;
});

test('without a grace its ports are free at once, and idle connections are cut', async () => {
  const { port, close } = await startOrdered();
  const socket = await openSocket(port);
  const received = text(socket).catch(() => 'cut');
  await close({ graceMs: 0, drainMs: 0, acceptMs: 0, idleMs: 0 });
  expect(['', 'cut']).toContain(await received);
});

test('further ports lead to the same server; when one of them cannot be used, none is open', async () => {
  const takenPort = await startSilent();
  const { listen, close, port } = await startOrdered();
  await close({ graceMs: 0, drainMs: 0, acceptMs: 0, idleMs: 0 });
  await expect(listen([takenPort, port], '127.0.0.1')).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await delay(0);
  expect(await sendRaw(port, GET)).toBe('');
  await listen([0, port], '127.0.0.1');
  expect(await sendRaw(port, GET)).toMatch(/\/first$/);
});

/** More than the systems of both sides take of an answer that nobody reads. */
const LARGE = 'x'.repeat(30_000_000);
const KEPT = GET.replace('Connection: close\r\n', '');

const HALF = KEPT.replace('GET /first', 'POST /first').replace('\r\n\r\n', '\r\nContent-Length: 8\r\n\r\n');

test('a connection whose body came behind its answer is idle', async () => {
  const { port, close } = await startOrdered({ serve: ({ url }, response) => void response.end(url) });
  const socket = await openSocket(port);
  socket.write(`${HALF}half`);
  await once(socket, 'data');
  socket.write('half');
  await delay(50); // it has come
  const startedAt = performance.now();
  await close(TIMES);
  expect(msSince(startedAt)).toBeLessThan(4000); // Node itself would end it after 5 s
});

test.each([
  ['that was answered ends as idle', KEPT, '', '/first'],
  ['that never sent anything ends as idle', '', '', ''],
  [
    'whose next header has begun to arrive is kept',
    `${KEPT}GET /second HT`,
    'TP/1.1\r\nConnection: close\r\n\r\n',
    '/second',
  ],
  [
    'whose first header has begun to arrive is kept',
    'GET /second HT',
    'TP/1.1\r\nConnection: close\r\n\r\n',
    '/second',
  ],
  ['whose answer is read slowly ends behind the last byte', KEPT.replace('first', 'large'), '', LARGE],
])('a connection %s', async (_what, before, after, last) => {
  const { port, close } = await startOrdered({
    serve: ({ url }, response) => void response.end(url === '/large' ? LARGE : url),
  });
  const socket = await openSocket(port);
  socket.pause();
  for (const bytes of before.split(/(?<=\r\n\r\n)/)) {
    socket.write(bytes);
    if (bytes.endsWith('\r\n\r\n')) await once(socket, 'readable');
  }
  const idle = await openSocket(port);
  idle.write(KEPT);
  await once(idle, 'data');
  const startedAt = performance.now();
  const closing = close(TIMES);
  await once(idle, 'close'); // the time of idle connections is over
  if (after !== '') socket.write(after);
  expect((await text(socket)).split('\r\n\r\n').at(-1) === last).toBe(true); // not printed: it may be large
  await closing;
  expect(msSince(startedAt)).toBeLessThan(TIMES.graceMs / 2);
});

test('a connection that was answered while the server closes stays for idleMs, because its client may send a request', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  let idleSince = 0;
  let closedAt = 0;
  const { port, close } = await startOrdered({
    serve: async ({ url, socket }, response) => {
      if (url === '/slow') await answered;
      response.once('close', () => (idleSince = performance.now())).end(url);
      socket.once('close', () => (closedAt = performance.now()));
    },
  });
  const [idle, slow] = [await openSocket(port), await openSocket(port)];
  slow.resume().write(KEPT.replace('first', 'slow'));
  idle.resume().write(KEPT);
  await once(idle, 'data');
  const closing = close({ ...TIMES, idleMs: 200 });
  await once(idle, 'close');
  await delay(100);
  answer();
  await closing;
  expect(closedAt - idleSince).toBeGreaterThan(198); // a timer may fire a millisecond early
});
