import type { RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import type { Reason } from '../../../src/lib/ordered-http/ordered-http.ts';
import { sendRaw } from '../../support/client.ts';
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
