import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import { generateApiKey } from '../../src/gateway/keys/api-key.ts';
import { SQLITE } from '../support/engines.ts';
import { expectRefusal, useGateway } from './checked-gateway.ts';

const PET = '{"name":"Rex","categoryId":1}';
const KEY = generateApiKey();
const bytes = (...parts: readonly (string | readonly number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Uint8Array.from(part))));
const named = (...name: readonly number[]) => bytes('{"name":"', name, '","categoryId":1}');
/** A good animal of exactly this many bytes. */
const petOf = (size: number) => `{"categoryId":1,"name":"${'x'.repeat(size - 26)}"}`;
const streamOf = (text: string) => new Blob([text]).stream();

const NOT_JSON: readonly (readonly [what: string, body: string, why: string])[] = [
  ['a brace', '{', "Expected property name or '}' (line 1 column 2)"],
  ['a bracket', '[', 'Unexpected end of JSON input'],
  ['a comma at the end', '{"name":"Rex","categoryId":1,}', 'Expected double-quoted property name (line 1 column 30)'],
  ['two objects', PET + PET, 'Unexpected non-whitespace character after JSON (line 1 column 30)'],
  ['a form', 'name=Rex&categoryId=1', "Unexpected token 'a'"],
  ['a raw line break in a string', '{"name":"R\nex"}', 'Bad control character in string literal (line 1 column 11)'],
  ['a number without its fraction', '{"categoryId":1.}', 'Unterminated fractional number (line 1 column 17)'],
  ['a character that turns the direction', '\u202e', "Unexpected token '\ufffd'"],
  ['a key in the wrong place', `{"a":x "${KEY}"}`, "Unexpected token 'x'"],
  ['a key in the wrong place of a long body', `{"a":x "${KEY}","name":"${'x'.repeat(200)}"}`, "Unexpected token 'x'"],
];

const NO_OBJECT = [
  'null',
  'true',
  '1',
  '"Rex"',
  '[]',
  `[${PET}]`,
  '9223372036854775807',
  '[['.repeat(9000) + ']]'.repeat(9000),
];

const NOT_UTF8: readonly (readonly [what: string, body: Uint8Array])[] = [
  ['0xFF', named(0xff)],
  ['a lone continuation byte', named(0x80)],
  ['a cut sequence', named(0xf0, 0x9f, 0x90)],
  ['an overlong slash', named(0xc0, 0xaf)],
  ['a surrogate', named(0xed, 0xa0, 0xbd)],
  ['a code point beyond U+10FFFF', named(0xf4, 0x90, 0x80, 0x80)],
  ['latin-1', Buffer.from('{"name":"é","categoryId":1}', 'latin1')],
  ['UTF-16 with its mark', bytes([0xff, 0xfe], [...Buffer.from(PET, 'utf16le')])],
  ['bytes outside of strings', bytes(PET, [0xfe])],
];

const JSON_TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=UTF-16',
  'Application/JSON',
  'application/json ; profile="a;b"',
  'application/json; profile="a,b"; q=1',
  'application/json; a="b\\"c,d\\\\"', // RFC 9110 §5.6.4
];
const OTHER_TYPES = [
  '',
  'text/plain',
  'text/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/problem+json',
  'application/vnd.api+json',
  'application/jsonp',
  'application/json2',
  'application/json, text/plain',
  'application/json; a="b\\", text/plain',
  'application/json; charset=utf-8, text/xml', // two lines
  'application/json text/plain',
  'json',
  '*/*',
];

describe('createPet › body', () => {
  const gateway = useGateway(SQLITE);
  const post = (body: string | Uint8Array | ReadableStream, headers?: Record<string, string>) =>
    gateway.post(body, headers);

  describe('400', () => {
    it.each(NOT_JSON)('%s is not valid JSON', async (_what, body, why) => {
      expectRefusal(await post(body), 400, `The body is not valid JSON: ${why}.`);
    });

    it.each(['', ' ', '\r\n\t '])('%j is empty', async (body) => {
      expectRefusal(await post(body), 400, 'The body is empty.');
    });

    it.each(NO_OBJECT)('%.20s is no object', async (body) => {
      expectRefusal(await post(body), 400, 'The body must be a JSON object.');
    });

    it.each(NOT_UTF8)('%s is not UTF-8', async (_what, body) => {
      expectRefusal(await post(body), 400, 'The body is not valid UTF-8.');
    });

    test('UTF-16 without its mark is not valid JSON', async () => {
      expectRefusal(await post(Buffer.from(PET, 'utf16le')), 400, /^The body is not valid JSON: .*column 2\)\.$/);
    });

    test('brackets that a recursive reader would not survive, beside a number that needs one', async () => {
      const depth = 15_000;
      const answer = await post(`{"name":"Rex","categoryId":1e2,"x":${'['.repeat(depth)}${']'.repeat(depth)}}`);
      expect([201, 400]).toContain(answer.status);
    });
  });

  describe('201', () => {
    test('a byte order mark before the object is ignored (RFC 8259 §8.1)', async () => {
      expect((await post(bytes([0xef, 0xbb, 0xbf], PET))).status).toBe(201);
    });

    test('white space around the object is allowed', async () => {
      expect((await post(` \r\n\t${PET}\n`)).status).toBe(201);
    });

    it.each(JSON_TYPES)('Content-Type %s is JSON', async (type) => {
      expect((await post(PET, { 'content-type': type })).status).toBe(201);
    });

    it.each(['identity', 'Identity'])('Content-Encoding %s is none', async (coding) => {
      expect((await post(PET, { 'content-encoding': coding })).status).toBe(201);
    });

    test('65536 bytes are taken, at once and in chunks', async () => {
      for (const body of [petOf(65_536), streamOf(petOf(65_536))]) expect((await post(body)).status).toBe(201);
    });
  });

  it.each([65_537, 200_000, 3_000_000])(
    '413: %i bytes are refused, with a Content-Length and in chunks',
    async (size) => {
      for (const body of [petOf(size), streamOf(petOf(size))])
        expectRefusal(await post(body), 413, 'The body must not be larger than 65536 bytes.');
    },
  );

  describe('415', () => {
    it.each(OTHER_TYPES)('Content-Type "%s" is refused', async (type) => {
      const answer = await post(PET, { 'content-type': type });
      expectRefusal(answer, 415, 'The Content-Type must be application/json.');
      expect([answer.headers.get('accept'), answer.headers.get('accept-encoding')]).toEqual(['application/json', null]);
    });

    it.each([{ body: bytes(PET) }, {}])('without a Content-Type it is refused, body or none', async (call) => {
      const answer = await gateway.call('POST', '/v1/pets', call);
      expectRefusal(answer, 415, 'The Content-Type must be application/json.');
    });

    it.each([
      ['gzip', gzipSync(PET)],
      ['br', brotliCompressSync(PET)],
      ['gzip, identity', gzipSync(PET)],
      ['unknown', bytes(PET)],
    ])('Content-Encoding %s is refused', async (coding, body) => {
      const answer = await post(body, { 'content-encoding': coding });
      expectRefusal(answer, 415, /without a Content-Encoding/);
      expect([answer.headers.get('accept'), answer.headers.get('accept-encoding')]).toEqual([null, 'identity']);
    });
  });
});

describe('createPet › BODY_LIMIT=1024', () => {
  const gateway = useGateway(SQLITE, { BODY_LIMIT: '1024' });

  it.each([
    [1024, 201],
    [1025, 413],
  ])('%i bytes answer %i', async (size, status) => {
    expect((await gateway.post(petOf(size))).status).toBe(status);
    expect((await gateway.post(streamOf(petOf(size)))).status).toBe(status);
  });
});

describe('createPet › a body of many values, BODY_LIMIT=131072', () => {
  const gateway = useGateway(SQLITE, { BODY_LIMIT: '131072' });
  /** The object, its two properties and the array are counted, too. */
  const valuesOf = (count: number) => `{"name":"${'x'.repeat(10_000)}","categoryId":[${'1,'.repeat(count - 4)}1]}`;

  it('32,768 are read, one more is 413', async () => {
    expect((await gateway.post(valuesOf(32_768))).status).toBe(400);
    const { status, json } = await gateway.post(valuesOf(32_769));
    expect([status, json.message]).toEqual([413, 'The body must not have more than 32768 JSON values.']);
  });
});
