import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openSocket, sendRaw } from '../../support/client.ts';
import { startSilent } from '../../support/served-app.ts';
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
