import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { serveInOrder } from '../../../src/lib/ordered-http/request-order.ts';
import { openSocket } from '../../support/client.ts';
import { afterFile } from '../../support/engines.ts';
import { collectGarbage } from '../../support/garbage.ts';
import { eventually } from '../../support/load.ts';
import { createRandom } from '../../support/random.ts';
import { listenOnFreePort } from '../../support/served-app.ts';
import { startOrdered } from './ordered-server.ts';

describe('many requests in one packet', () => {
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const MANY = 6000;

  /** A server that does nothing but what every request passes, with a connection to it and all that comes on that. */
  async function listen(serve: RequestListener) {
    const server = Object.assign(createServer(), { httpAllowHalfOpen: true });
    server.on('connection', (socket) => socket.on('error', () => {})); // it may be cut
    serveInOrder(server, () => serve);
    const port = await listenOnFreePort(server);
    afterFile(() => server.closeAllConnections());
    return { server, open: () => openSocket(port) };
  }

  test('begin one after the other, other connections between them, and are answered in order', async () => {
    const begun: string[] = [];
    let atWork = 0;
    let most = 0;
    const { open } = await listen(async ({ url = '' }, answer) => {
      begun.push(url);
      most = Math.max(most, ++atWork);
      if (url === '/0') polite.write(get('/polite'));
      await delay(0);
      if (url !== '/polite') atWork--;
      answer.end(`[${url}]`);
    });
    const polite = await open();
    const greedy = await open();
    let text = '';
    greedy.setEncoding('latin1').on('data', (chunk) => (text += chunk));
    const paths = Array.from({ length: 1000 }, (_, index) => `/${index}`);
    greedy.write(paths.map(get).join(''));
    await eventually(async () => text.endsWith('[/999]'), 10_000, 'all are answered');
    expect([...text.matchAll(/\[(.*?)\]/g)].map(([, path]) => path)).toEqual(paths);
    expect(most).toBeLessThanOrEqual(2); // one of each connection
    expect(begun.indexOf('/polite')).toBeLessThan(500);
  });

  test.each([
    ['as they are', ''],
    ['for another protocol', 'Connection: Upgrade\r\nUpgrade: h2c\r\n'],
  ])('are not read while the first is at work, and all answered then: %s', async (_how, more) => {
    const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
    const { server, open } = await listen(async (_request, answer) => {
      await isFree;
      answer.end('.');
    });
    let read = 0;
    server.on('request', () => read++);
    const greedy = await open();
    let answers = 0;
    greedy.setEncoding('latin1').on('data', (chunk) => (answers += String(chunk).split('\r\n\r\n').length - 1));
    greedy.write(get('/').replace(/\r\n$/, `${more}\r\n`).repeat(MANY));
    await eventually(() => read > 1, 5000, 'the first packet is read');
    await delay(200);
    expect(read).toBe(2); // the one that is served, and the next
    free();
    await eventually(() => answers >= MANY - 10, 20_000, 'all are answered'); // an end of a head may be cut by a chunk
    await eventually(() => read === MANY, 5000, 'all are read');
  });

  test('in any pieces, with bodies, are answered whole and in order, also when the client has closed its side', async () => {
    const SEED = 20_261_122;
    const { open } = await listen(async (request, answer) => {
      const body = await buffer(request);
      if (body.length % 3 === 0) await delay(0);
      // Some answers are longer than what a connection takes at once.
      answer.end(`[${request.method} ${request.url} ${body}]${'.'.repeat(request.url?.endsWith('9') ? 200_000 : 0)}`);
    });
    for (let round = 0; round < 30; round++) {
      const random = createRandom(SEED + round);
      const sent: string[] = [];
      const expected: string[] = [];
      for (let number = 0; number < 60; number++) {
        const body = 'b'.repeat(random.below(3) * random.below(2000));
        const path = `/${round}-${number}`;
        const upgrade = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';
        const [method, rest] = random.pick([
          ['GET', '\r\n'],
          ['GET', `${upgrade}\r\n`],
          ['POST', `${upgrade}Content-Length: ${body.length}\r\n\r\n${body}`],
          ['POST', `Content-Length: ${body.length}\r\n\r\n${body}`],
          ['POST', `Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n${body}`],
          ['PUT', `Transfer-Encoding: chunked\r\n\r\n${body && `${body.length.toString(16)}\r\n${body}\r\n`}0\r\n\r\n`],
        ] as const);
        const isLast = number === 59; // an upgrade of a connection that is to close, too
        sent.push(`${method} ${path} HTTP/1.1\r\nHost: x\r\n${isLast ? 'Connection: close\r\n' : ''}${rest}`);
        expected.push(`[${method} ${path} ${method === 'GET' ? '' : body}]`);
      }
      const socket = await open();
      const received = buffer(socket);
      const bytes = sent.join('');
      for (let at = 0; at < bytes.length; ) {
        const size = 1 + random.below(random.chance(0.5) ? bytes.length : 3000);
        socket.write(bytes.slice(at, at + size));
        at += size;
        if (random.chance(0.2)) await delay(0);
      }
      socket.end();
      const text = (await received).toString('latin1');
      expect([...text.matchAll(/\[.*?\]/g)].map(([whole]) => whole)).toEqual(expected);
    }
  });
});

test('a connection that ends while its request is at work is not idle then', async () => {
  const { promise: isClosed, resolve: close } = Promise.withResolvers<void>();
  const server = createServer();
  const serve: RequestListener = ({ url }, answer) => {
    if (url === '/idle') answer.end();
    else answer.once('close', close).socket?.destroy();
  };
  const idle = serveInOrder(server, () => serve);
  const socket = await openSocket(await listenOnFreePort(server)); // it is cut
  socket.write('GET /idle HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'data');
  await eventually(() => idle.size === 1, 5000, 'it is idle');
  socket.write('GET /gone HTTP/1.1\r\nHost: x\r\n\r\n');
  await isClosed;
  expect(idle.size).toBe(0);
});

test('what comes behind an answer that closes the connection is not served', async () => {
  const served: unknown[] = [];
  const serve: RequestListener = ({ url }, answer) => {
    served.push(url);
    setImmediate(() => answer.setHeader('Connection', 'close').end());
  };
  const { port } = await startOrdered({ serve });
  const post = (path: string, body: string) => `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n${body}`;
  for (const [first, second] of [
    [post('/one', 'body') + post('/waiting', 'he'), 're'],
    [post('/two', 'he'), `re${post('/afterwards', 'body')}`],
  ] as const) {
    const socket = await openSocket(port);
    socket.resume().write(first);
    await once(socket, 'data');
    socket.write(second);
    await once(socket, 'close');
  }
  expect(served).toEqual(['/one', '/two']);
});

test('an idle connection keeps neither its last request nor its answer', async () => {
  let kept: readonly WeakRef<object>[] = [];
  const serve: RequestListener = async (request, answer) => {
    kept = [new WeakRef(request), new WeakRef(answer)];
    answer.end(await buffer(request));
  };
  const { port } = await startOrdered({ serve });
  const socket = await openSocket(port);
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody');
  await once(socket, 'data');
  const isFree = async () => {
    await delay(0); // what a WeakRef gave stays until the job ends
    collectGarbage();
    return kept.length === 2 && kept.every((one) => one.deref() === undefined);
  };
  await eventually(isFree, 5000, 'both are collected');
  expect(socket.destroyed).toBe(false);
});

test('a parser is handed on as it was, to the next connection', async () => {
  const server = createServer();
  const parsers = new Set<unknown>();
  const ways = new Set<unknown>();
  server.on('connection', (connection: Socket & { parser?: { execute: unknown } }) => {
    parsers.add(connection.parser);
    ways.add(connection.parser?.execute);
  });
  serveInOrder(server, () => (_request, answer) => void answer.end());
  const port = await listenOnFreePort(server);
  for (let connections = 0; connections < 5; connections++) {
    const socket = await openSocket(port);
    socket.resume().write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await once(socket, 'close');
  }
  expect(parsers.size).toBeLessThan(5); // Node reuses them
  expect(ways.size).toBe(1);
});
