import { request } from 'node:http';
import Koa from 'koa';
import { describe, expect, test } from 'vitest';
import { sendPlainly } from '../../src/gateway/http/send-answer.ts';
import { serveApp } from '../support/served-app.ts';

/** Listens with one handler, whose answers are sent plainly. */
function serve(handle: (ctx: Koa.Context) => void): Promise<string> {
  const app = new Koa();
  app.silent = true;
  sendPlainly(app);
  app.use(handle);
  return serveApp(app);
}

/** The bytes of an answer's body, as they came. */
function ask(url: string, method = 'GET') {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number | undefined;
    headers: Readonly<Record<string, unknown>>;
    bytes: Buffer;
  }>();
  request(url, { method }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk) => chunks.push(chunk));
    response.on('end', () => {
      resolve({ status: response.statusCode, headers: response.headers, bytes: Buffer.concat(chunks) });
    });
  })
    .on('error', reject)
    .end();
  return promise;
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
    const url = await serve((ctx) => {
      ctx.body = body;
    });
    const blocks = [...allCharacters()];
    expect(blocks.join('').length).toBeGreaterThan(2_000_000); // all, in units of UTF-16
    const singles = ['', 'a', '\x80', 'ÿ', '日', '🐈', '\ud800'].flatMap((one) => [one, `plain ${one}`, `${one} é`]);
    for (body of [...blocks, ...singles]) {
      const expected = Buffer.from(body);
      const { status, headers, bytes } = await ask(url);
      expect([status, headers['content-length']]).toEqual([200, String(expected.length)]);
      expect(bytes.equals(expected)).toBe(true);
    }
    const head = await ask(url, 'HEAD');
    expect([head.status, head.headers['content-length'], head.bytes.length]).toEqual([
      200,
      String(Buffer.byteLength(body)),
      0,
    ]);
  });

  test.each([204, 304])('of status %i has no content', async (code) => {
    const url = await serve((ctx) => {
      ctx.set('ETag', '"one"');
      ctx.status = code;
    });
    const { status, headers, bytes } = await ask(url);
    expect([status, headers.etag, bytes.length]).toEqual([code, '"one"', 0]);
    for (const field of ['content-type', 'content-length', 'transfer-encoding'])
      expect(headers).not.toHaveProperty(field);
  });

  test('of bytes is those bytes', async () => {
    const url = await serve((ctx) => {
      ctx.body = Buffer.from([0, 0x80, 0xff]);
    });
    const { headers, bytes } = await ask(url);
    expect([headers['content-length'], [...bytes]]).toEqual(['3', [0, 0x80, 0xff]]);
  });

  test('that fails in a handler is 500, and tells nothing', async () => {
    const url = await serve(() => {
      throw Object.assign(new Error('secret'), { expose: false });
    });
    const { status, bytes } = await ask(url);
    expect([status, bytes.toString()]).toEqual([500, 'Internal Server Error']);
  });
});
