import { createServer } from 'node:http';
import fc from 'fast-check';
import type Koa from 'koa';
import { describe, expect, test, vi } from 'vitest';
import { readConfig } from '../../src/gateway/config.ts';
import { sendAnswer, setStandardHeaders } from '../../src/gateway/http/answer.ts';
import { createStartingApp } from '../../src/gateway/http/app.ts';
import { type Answer, withHeaders } from '../../src/gateway/http/call.ts';
import { createLog } from '../../src/gateway/log.ts';
import { plainRequest } from '../support/plain-request.ts';
import { serveListener } from '../support/served-app.ts';

/** Listens with answers of one function. */
function serve(answer: () => Answer): Promise<string> {
  return serveListener(
    createServer((_request, response) => {
      setStandardHeaders(response, 'none');
      sendAnswer(response, answer());
    }),
  );
}

describe('an answer', () => {
  test('has the bytes of its text in UTF-8, and says how many', async () => {
    let body = '';
    const url = await serve(() => ({ status: 200, body }));
    // Of ASCII, of Latin-1, of one unit of UTF-16, half a character among them, and of two.
    const texts = [0x7f, 0xff, 0xffff, 0x10ffff].map((max) =>
      fc.array(fc.integer({ min: 0, max })).map((points) => String.fromCodePoint(...points)),
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(...texts), async (text) => {
        body = text;
        const expected = Buffer.from(text);
        const { status, headers, bytes } = await plainRequest(url);
        expect([status, headers['content-length']]).toEqual([200, String(expected.length)]);
        expect(bytes.equals(expected)).toBe(true);
      }),
    );
    const head = await plainRequest(url, { method: 'HEAD' });
    expect([head.status, head.headers['content-length'], head.bytes.length]).toEqual([
      200,
      String(Buffer.byteLength(body)),
      0,
    ]);
  });

  test.each([204, 304])('of status %i has no content', async (code) => {
    const url = await serve(() => ({ status: code, headers: { ETag: '"one"' } }));
    const { status, headers, bytes } = await plainRequest(url);
    expect([status, headers.etag, bytes.length]).toEqual([code, '"one"', 0]);
    for (const field of ['content-type', 'content-length', 'transfer-encoding'])
      expect(headers).not.toHaveProperty(field);
  });

  test('of bytes is those bytes', async () => {
    const url = await serve(() => ({ status: 200, body: Buffer.from([0, 0x80, 0xff]) }));
    const { headers, bytes } = await plainRequest(url);
    expect([headers['content-length'], [...bytes]]).toEqual(['3', [0, 0x80, 0xff]]);
  });

  test('has the standard headers, unless it has its own', async () => {
    const url = await serve(() => ({ status: 200, headers: { 'Cache-Control': 'no-cache' } }));
    const { headers } = await plainRequest(url);
    expect([headers['cache-control'], headers['x-content-type-options']]).toEqual(['no-cache', 'nosniff']);
  });

  test('that several have a part in has all of their links, and varies by all that they choose by', async () => {
    const answer: Answer = {
      status: 200,
      headers: { Link: '<next>; rel="next"', Vary: 'Accept-Encoding', ETag: 'own' },
    };
    const url = await serve(() => withHeaders(answer, undefined, { Link: '</v2>', Vary: 'Accept', ETag: 'other' }));
    const { headers } = await plainRequest(url);
    expect([headers.link, headers.vary, headers.etag]).toEqual([
      '</v2>, <next>; rel="next"',
      'Accept, Accept-Encoding',
      'own',
    ]);
  });
});

test('Koa lets the app handle a request: it calls a function that it does not document', async () => {
  const koa = createStartingApp(readConfig({}), createLog('silent', { write() {} })).koa;
  expect(Object.hasOwn(koa, 'handleRequest')).toBe(true); // not Koa's own
  const handled = vi.spyOn(koa as Koa & { handleRequest(): Promise<void> }, 'handleRequest'); // as the app sets it
  const url = await serveListener(createServer(koa.callback()));
  expect((await plainRequest(`${url}/livez`)).status).toBe(200);
  expect(handled).toHaveBeenCalledTimes(1);
});
