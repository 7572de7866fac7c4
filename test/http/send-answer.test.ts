import { createServer } from 'node:http';
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

const LAST_CODE_POINT = 0x10ffff;
const SURROGATES = [0xd800, 0xdfff] as const;
const BLOCK = 0x20000;

/** Every character of Unicode, in blocks; the first is of ASCII alone, the second of what Latin-1 has beyond it. */
function* allCharacters(): Generator<string> {
  const text = (from: number, to: number) => {
    let characters = '';
    for (let point = from; point <= to; point++)
      if (point < SURROGATES[0] || point > SURROGATES[1]) characters += String.fromCodePoint(point);
    return characters;
  };
  yield text(0, 0x7f);
  yield text(0x80, 0xff);
  for (let from = 0x100; from <= LAST_CODE_POINT; from += BLOCK) {
    yield text(from, Math.min(from + BLOCK - 1, LAST_CODE_POINT));
  }
}

describe('an answer', () => {
  test('has the bytes of its text in UTF-8, and says how many, for every character there is', async () => {
    let body = '';
    const url = await serve(() => ({ status: 200, body }));
    const blocks = [...allCharacters()];
    expect(blocks.join('').length).toBeGreaterThan(2_000_000); // all, in units of UTF-16
    const singles = ['', 'a', '\x80', 'ÿ', '日', '🐈', '\ud800'].flatMap((one) => [one, `plain ${one}`, `${one} é`]);
    for (body of [...blocks, ...singles]) {
      const expected = Buffer.from(body);
      const { status, headers, bytes } = await plainRequest(url);
      expect([status, headers['content-length']]).toEqual([200, String(expected.length)]);
      expect(bytes.equals(expected)).toBe(true);
    }
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
