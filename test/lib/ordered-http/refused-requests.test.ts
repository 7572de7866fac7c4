import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import type { Reason } from '../../../src/lib/ordered-http/ordered-http.ts';
import { openSocket, sendRaw } from '../../support/client.ts';
import { afterFile } from '../../support/engines.ts';
import { eventually } from '../../support/load.ts';
import { startOrdered } from './ordered-server.ts';

const GET = 'GET /first HTTP/1.1\r\nHost: x\r\n\r\n';
const CHUNKED = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';

const REFUSED: readonly (readonly [Reason, bytes: string])[] = [
  ['not HTTP', 'GARBAGE\r\n\r\n'],
  ['long header', `GET / HTTP/1.1\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`],
  ['small chunks', CHUNKED + '1\r\n \r\n'.repeat(1200)],
  ['connect', 'CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n'],
];

test.each(REFUSED)(
  '%s: is answered by the reason, after the answers before it, and the connection ends',
  async (reason, bytes) => {
    const { port } = await startOrdered({
      serve: ({ url, method }, response) => void (method === 'GET' && response.end(url)),
    });
    const [served = '', refused] = (await sendRaw(port, GET + bytes, { answers: 2 })).split(/(?=HTTP\/1\.1 400)/);
    expect(served).toMatch(/^HTTP\/1\.1 200 .*\/first/s);
    const [head = '', body] = refused?.split('\r\n\r\n') ?? [];
    expect(body).toBe(reason);
    expect(head.split('\r\n')).toEqual(
      expect.arrayContaining([
        'HTTP/1.1 400 Bad Request',
        'X-Id: 7',
        `Content-Length: ${reason.length}`,
        'Connection: close',
      ]),
    );
  },
);

const SECOND = GET.replace('first', 'second');
test.each([
  ['by a client that has closed its side', GET + SECOND, false, [200, 200, 400]],
  ['by a client that waits', GET + SECOND, true, [200, 200, 400]],
  ['behind the last request', GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'), true, [200]],
])('what is refused %s', async (_what, before, half, statuses) => {
  const serve: RequestListener = async ({ url, socket }, response) => {
    if (!half && url === '/second') await once(socket, 'end');
    response.end(url);
  };
  const { port } = await startOrdered({ serve });
  const answers = await sendRaw(port, `${before}GARBAGE\r\n\r\n`, { answers: statuses.length, half });
  expect(Array.from(answers.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => Number(status))).toEqual(statuses);
});

const EARLY = 'POST /early HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 100000\r\n\r\n';
const serveEarly: RequestListener = ({ url, headers }, response) => {
  if (headers.connection === undefined) response.setHeader('Connection', 'close');
  if (url === '/early') response.end('early');
};

/** Sends `bytes`, reads to the end of the answer, and goes on to send until `isEnough` or the connection fails. */
async function sendOn(port: number, bytes: string, more: string, isEnough: (sent: number) => boolean) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  afterFile(() => void socket.destroy());
  let failed: unknown;
  socket.on('error', (error) => {
    failed = error;
  });
  const answer = text(socket);
  socket.write(bytes);
  await once(socket, 'end');
  for (let sent = 0; failed === undefined && !isEnough(sent); sent += more.length) {
    socket.write(more);
    await delay(5);
  }
  socket.end();
  return { answer: await answer, failed };
}

/** What a client sends first, and what it is answered. */
const ANSWERED: readonly (readonly [what: string, bytes: string, body: string])[] = [
  ['an early answer to a client that is to close', EARLY, 'early'],
  ['an early answer to HTTP/1.0', EARLY.replace('/1.1', '/1.0').replace('Connection: close\r\n', ''), 'early'],
  ['an early answer by which the server closes', EARLY.replace('Connection: close\r\n', ''), 'early'],
  ...REFUSED.map(([reason, bytes]) => [`the refusal '${reason}'`, bytes, reason] as const),
];

test.each(ANSWERED)('%s is not lost by who sends on', async (_what, bytes, body) => {
  const { port } = await startOrdered({ serve: serveEarly });
  const { answer, failed } = await sendOn(port, bytes, 'x'.repeat(10_000), (sent) => sent === 100_000);
  expect(failed).toBeUndefined();
  expect(answer.split('\r\n\r\n').at(-1)).toBe(body);
});

test('who sends on without end is cut: after a while behind a refusal, as late behind an early answer', async () => {
  const times = { requestTimeout: 1000, headersTimeout: 1000, connectionsCheckingInterval: 50 };
  const { port } = await startOrdered({ serve: serveEarly }, times);
  const endless = ['GARBAGE\r\n\r\n', `${CHUNKED}no length\r\n`, EARLY.replace('100000', '9999999')];
  const ends = await Promise.all(endless.map((bytes) => sendOn(port, bytes, 'x', () => false)));
  expect(ends.map(({ failed }) => failed)).not.toContain(undefined);
});

test.each([
  ['never comes', ''],
  ['breaks', 'no length\r\n'],
])(
  'a request on a kept connection that was answered before its body %s has one answer, then the end',
  async (_what, more) => {
    const times = { requestTimeout: 500, headersTimeout: 500, connectionsCheckingInterval: 50 };
    const refuse = vi.fn((reason: Reason) => ({ status: 400, headers: {}, body: reason }));
    const { port } = await startOrdered({ serve: (_request, response) => void response.end('early'), refuse }, times);
    const socket = await openSocket(port);
    socket.once('data', () => socket.write(more)).write(CHUNKED);
    expect((await text(socket)).split('HTTP/1.1 ')).toEqual(['', expect.stringMatching(/^200 .*\r\n\r\nearly$/s)]);
    expect(refuse).not.toHaveBeenCalled();
  },
);

test('a request without Host is not refused: it is served', async () => {
  const { port } = await startOrdered();
  expect(await sendRaw(port, 'GET /first HTTP/1.1\r\n\r\n', { quietMs: 200 })).toMatch(/\/first$/);
});

test('a HEAD is refused without a body, and a request that was half read by its own answer', async () => {
  const given: boolean[] = [];
  const { port } = await startOrdered({
    serve: () => {},
    refuse: (reason, _socket, response) => {
      given.push(response !== undefined);
      return { status: 400, headers: {}, body: reason };
    },
  });
  expect(await sendRaw(port, 'HEAD / HTTP/1.1\r\nno colon\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 .*\r\n\r\n$/s);
  expect(await sendRaw(port, `${CHUNKED}no length\r\n`)).toMatch(
    /^HTTP\/1\.1 400 .*\r\nConnection: close\r\n\r\nnot HTTP$/s,
  );
  expect(given).toEqual([false, true]);
});

test('what does not arrive in time is refused; a client that has closed its side and waits is answered', async () => {
  const times = { requestTimeout: 300, headersTimeout: 300, connectionsCheckingInterval: 50 };
  const serve: RequestListener = (_request, response) => void setTimeout(() => response.end('served'), 1000);
  const { port } = await startOrdered({ serve }, times);
  expect(await sendRaw(port, 'GET / HTTP/1.1\r\nHo')).toMatch(/\r\n\r\nlate$/);
  expect(await sendRaw(port, GET, { half: false })).toMatch(/\r\n\r\nserved$/);
});

test('an answer that cannot be written ends the connection, and the process goes on', async () => {
  const { port, logged } = await startOrdered({
    refuse: () => {
      throw new Error('no words');
    },
  });
  expect(await sendRaw(port, 'GARBAGE\r\n\r\n')).toBe('');
  expect(await sendRaw(port, `${GET}GARBAGE\r\n\r\n`)).toMatch(/\/first$/);
  expect(logged).toEqual(['a listener failed', 'a listener failed']);
});

/** More than the systems of both sides take of an answer that nobody reads. */
const LARGE = Buffer.alloc(30_000_000, '.');

/** A client that has sent `bytes` and does not read yet. */
function sendUnread(port: number, bytes: string) {
  const socket = connect(port, '127.0.0.1').on('error', () => {}); // it may be cut
  afterFile(() => void socket.destroy());
  socket.pause().write(bytes);
  return socket;
}

test('who goes on sending behind what was refused, and reads nothing, is cut as without that, and nothing piles up', async () => {
  const answers: ServerResponse[] = [];
  const serve: RequestListener = (_request, response) => void answers.push(response.end(LARGE));
  const { port } = await startOrdered({ serve }, { timeout: 300 });
  const socket = sendUnread(port, `${GET}GARBAGE\r\n\r\n`);
  let listeners = 0;
  const more = setInterval(() => {
    listeners = Math.max(listeners, answers[0]?.listenerCount('close') ?? 0);
    if (socket.writable) socket.write('x');
  }, 10);
  afterFile(() => clearInterval(more));
  await eventually(() => answers[0]?.destroyed, 10_000, 'the connection is cut');
  expect(listeners).toBeLessThan(5);
});

test('who goes on sending behind what was refused, and reads at last, gets what came before whole', async () => {
  const { port } = await startOrdered({ serve: (_request, response) => void response.end(LARGE) });
  for (const first of [GET, GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')]) {
    const socket = sendUnread(port, `${first}GARBAGE\r\n\r\n`);
    for (let packets = 0; packets < 100; packets++) await new Promise((sent) => socket.write('x'.repeat(1000), sent));
    expect((await buffer(socket)).length).toBeGreaterThan(LARGE.length);
  }
});

const CONNECT = 'CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n';

test.each(['', 'more'])(
  'a CONNECT behind an answer that nobody reads (and then %j) keeps no connection: the limit of stalled readers stays, and a stop ends',
  async (further) => {
    const sockets: Socket[] = [];
    const serve: RequestListener = ({ socket }, response) => {
      sockets.push(socket);
      response.end(LARGE);
    };
    const stalled = await startOrdered({ serve }, { timeout: 300 });
    const stopped = await startOrdered({ serve });
    for (const { port } of [stalled, stopped]) {
      const socket = sendUnread(port, GET + CONNECT);
      const more = setInterval(() => further && socket.writable && socket.write(further), 10);
      afterFile(() => clearInterval(more));
    }
    await eventually(() => sockets.length === 2, 5000, 'both are served');
    await eventually(() => sockets.some(({ destroyed }) => destroyed), 10_000, 'the stalled one is cut');
    const closing = stopped.close({ graceMs: 200, drainMs: 0, acceptMs: 0, idleMs: 0 });
    await eventually(() => sockets.every(({ destroyed }) => destroyed), 10_000, 'the end of the grace cuts the other');
    await expect(closing).resolves.toBeUndefined();
  },
);

test('an answer that is written as its client takes it arrives whole, also with a CONNECT behind it', async () => {
  const serve: RequestListener = (_request, response) =>
    void pipeline(Array(300).fill(LARGE.subarray(0, 100_000)), response);
  const { port } = await startOrdered({ serve });
  const answers = await buffer(sendUnread(port, GET + CONNECT));
  expect(answers.length).toBeGreaterThan(LARGE.length);
  expect(answers.toString('latin1', answers.length - 7)).toBe('connect');
});

describe('a refusal has a body, unless it is for a HEAD, whatever is before it in its packet:', () => {
  const HEAD = GET.replace('GET', 'HEAD');
  const BAD_HEAD = 'HEAD / HTTP/1.1\r\nno colon\r\n\r\n';
  const GARBAGE = 'GARBAGE\r\n\r\n';
  test.each([
    ['a HEAD', HEAD, GARBAGE, true],
    ['two HEADs', HEAD + HEAD, GARBAGE, true],
    ['an empty line', '\r\n', GARBAGE, true],
    ['an empty line', '\r\n', BAD_HEAD, false],
    ['a GET', GET, BAD_HEAD, false],
    ['two GETs', GET + GET, BAD_HEAD, false],
    ['chunks', `${CHUNKED}3\r\nabc\r\n0\r\n\r\n`, BAD_HEAD, false],
    ['chunks', `${CHUNKED}5\r\nHEAD \r\n0\r\n\r\n`, GARBAGE, true],
  ])('%s (%j), then %j', async (_what, before, refused, hasBody) => {
    const { port } = await startOrdered();
    const answers = before.split('HTTP/1.1').length;
    const received = await sendRaw(port, before + refused, { answers });
    expect(received).toMatch(hasBody ? /400 .*\r\n\r\nnot HTTP$/s : /400 .*Content-Length: 8\r\n.*\r\n\r\n$/s);
  });
});

test('a request that waits is in time; its body has its time from when it begins', async () => {
  const times = { requestTimeout: 1000, headersTimeout: 1000, connectionsCheckingInterval: 20 };
  const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
  const serve: RequestListener = async (request, response) => {
    if (request.method === 'GET') await isFree;
    response.end(`[${await text(request).catch(() => 'cut')}]`);
  };
  const { port } = await startOrdered({ serve }, times);
  const post = (body: string) => `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nConnection: close\r\n\r\n${body}`;
  const whole = sendRaw(port, GET + post('here'), { answers: 2 });
  const never = sendRaw(port, GET + post('he'), { answers: 2 });
  const socket = connect(port, '127.0.0.1');
  afterFile(() => void socket.destroy());
  socket.once('data', () => socket.write('re')).write(GET + post('he'));
  const afterwards = text(socket);
  expect(await sendRaw(port, 'GET / HTTP/1.1\r\nHo')).toMatch(/\r\n\r\nlate$/); // and what came before is as late
  free();
  expect((await whole).match(/\[.*?\]/g)).toEqual(['[]', '[here]']);
  expect((await afterwards).match(/\[.*?\]/g)).toEqual(['[]', '[here]']);
  expect(await never).toMatch(/\[\].* 400 .*late$/s);
});

test('a request that waits is forgotten with its connection', async () => {
  const requestTimeout = 300;
  const times = { requestTimeout, headersTimeout: requestTimeout, connectionsCheckingInterval: 20 };
  const ended = Promise.withResolvers<void>();
  const serve: RequestListener = (_request, response) => {
    response.once('close', ended.resolve).write('x'.repeat(20_000_000)); // nobody reads it
  };
  const { port } = await startOrdered({ serve }, times);
  const timers = vi.spyOn(globalThis, 'setTimeout');
  const armed = () => timers.mock.calls.filter(([, ms]) => ms === requestTimeout).length;
  try {
    const socket = connect(port, '127.0.0.1');
    socket.write(`${GET}POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nhe`);
    await eventually(() => armed() > 0, 5000, 'it is late');
    socket.destroy();
    await ended.promise;
    const before = armed();
    await delay(3 * requestTimeout); // nothing tells that nothing comes
    expect(armed()).toBe(before);
  } finally {
    timers.mockRestore();
  }
});
