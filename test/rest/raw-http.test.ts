import { connect } from 'node:net';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { sendRaw } from '../support/client.ts';
import { afterFile, SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { eventually, unlessShed } from '../support/load.ts';
import { ALLOWED } from '../support/petstore-api.ts';
import { msSince } from '../support/stall-clock.ts';
import { useGateway } from './checked-gateway.ts';

const QUIET = { quietMs: 1000 };
const CHUNKED = 'Transfer-Encoding: chunked';
const JSON_TYPE = 'Content-Type: application/json';
const BODY = '{"name":"Rex","categoryId":1}';
const LENGTH = `Content-Length: ${BODY.length}`;
const HOST = 'Host: pets.example\r\n';
const get = (path: string, ...headers: string[]) =>
  `GET ${path} HTTP/1.1\r\n${HOST}${headers.map((header) => `${header}\r\n`).join('')}\r\n`;

/** The status lines and Error bodies of one or more answers on one connection. */
function readAnswers(text: string): {
  statuses: number[];
  errors: { code: string; message: string; status: number }[];
} {
  return {
    statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)),
    errors: [...text.matchAll(/\{"code".*?\}/g)].map(([body]) => JSON.parse(body)),
  };
}

const REFUSED: readonly (readonly [what: string, bytes: string | Uint8Array, status: number])[] = [
  ['garbage', 'garbage\r\n\r\n', 400],
  ['the start of a TLS connection', Uint8Array.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc]), 400],
  ['NUL bytes', new Uint8Array(100), 400],
  ['HTTP/2 without asking', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['a version that is none', `GET /v1/pets HTTP/9.9\r\n${HOST}\r\n`, 400],
  ['a method that is none', `FETCH /v1/pets HTTP/1.1\r\n${HOST}\r\n`, 400],
  ['a method in small letters', `get /v1/pets HTTP/1.1\r\n${HOST}\r\n`, 400],
  ['a space in the path', `GET /v1/pets now HTTP/1.1\r\n${HOST}\r\n`, 400],
  ['a header without a colon', get('/v1/pets', 'Authorization'), 400],
  ['a space in the name of a header', get('/v1/pets', 'X Y: 1'), 400],
  ['a NUL in a header', get('/v1/pets', 'X-Y: a\0b'), 400],
  ['a folded header', get('/v1/pets', 'X-Y: a', ' b'), 400],
  ['a length that is no number', get('/v1/pets', 'Content-Length: many'), 400],
  ['a negative length', get('/v1/pets', 'Content-Length: -1'), 400],
  ['two different lengths', get('/v1/pets', 'Content-Length: 1', 'Content-Length: 2'), 400],
  ['length and chunks', get('/v1/pets', 'Content-Length: 1', 'Transfer-Encoding: chunked'), 400],
  ['a coding that is none', get('/v1/pets', 'Transfer-Encoding: rot13'), 400],
  ['a header of 20 kB', get('/v1/pets', `X-Y: ${'x'.repeat(20_000)}`), 400],
  ['a path of 20 kB', get(`/${'x'.repeat(20_000)}`), 400],
  ['no Host', 'GET /v1/pets HTTP/1.1\r\n\r\n', 400],
  ['an empty Host', 'GET /v1/pets HTTP/1.1\r\nHost:\r\n\r\n', 400],
  ['two lines of Host', get('/v1/pets', 'Host: other.example'), 400],
  ['two equal lines of Host', get('/v1/pets', HOST.trim()), 400],
  ['a second Host behind 200 other headers', get('/v1/pets', ...Array(200).fill('a:'), 'Host: other.example'), 400],
  ['a second Host behind 2000 other headers', get('/v1/pets', ...Array(2000).fill('a:'), 'Host: other.example'), 400],
  ['250 lines', get('/v1/pets', ...Array(249).fill('a:')), 400],
  ['250 lines with an Upgrade', get('/v1/pets', 'Connection: Upgrade', 'Upgrade: x', ...Array(247).fill('a:')), 400],
  ['a header of 15,000 short lines', get('/v1/pets', ...Array(15_000).fill('a:')), 400],
  ...[
    ...'<x> a/b a?b a#b user@a a:b a:65536 a%2 [::1 [a] [fe80::1%eth0] é'.split(' '),
    ...['a b', 'x'.repeat(256)],
  ].map((host) => [`Host: ${host}`, `GET /v1/pets HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 400] as const),
  ...[
    ...'http:// http://[%]/ http://[::1/ http://? http:///v1/pets http://u:p@a/ ftp://a/'.split(' '),
    'http://a b/',
  ].map((target) => [`the target ${target}`, get(target), 400] as const),
  ...['//a@[%]/#', '/v1/pets#x', '*', 'pets.example:443', 'v1/pets', '?x', 'http://a/#x', '\\', '/\ta'].map(
    (target) => [`the target ${target}`, get(target), 400] as const,
  ),
  ['bytes beyond ASCII in the target', get('/v1/pets?x=à'), 400],
  ['HTTP/2.0 as text', `GET /v1/pets HTTP/2.0\r\n${HOST}\r\n`, 400],
  ['CONNECT', `CONNECT pets.example:443 HTTP/1.1\r\n${HOST}\r\n`, 405],
];

describe('raw HTTP', () => {
  const gateway = useGateway(SQLITE);
  const authorization = () => `Authorization: Bearer ${gateway.key}`;
  /** The head of a create whose body comes so. */
  const createHead = (length: string, key = gateway.key) =>
    `POST /v1/pets HTTP/1.1\r\n${HOST}Authorization: Bearer ${key}\r\n${JSON_TYPE}\r\n${length}\r\n\r\n`;
  /** The statuses of the answers to bytes; tests that run beside each other share a key, so any of them may be shed. */
  const statusesOf = async (bytes: string, answers = 1) => {
    const ask = async () => ({ text: await sendRaw(gateway.port, bytes, { ...QUIET, answers }) });
    return readAnswers((await unlessShed(ask)).text).statuses;
  };

  describe('what the parser refuses gets an Error body', () => {
    it.concurrent.each(REFUSED)('%s', async (_what, bytes, status) => {
      const text = await sendRaw(gateway.port, bytes, QUIET);
      const { statuses, errors } = readAnswers(text);
      const code = status === 405 ? 'method_not_allowed' : 'bad_request';
      expect(statuses).toEqual([status]);
      expect(errors).toEqual([{ code, message: expect.stringMatching(/^[A-Z].*\.$/), status }]);
      expect(text).toMatch(/^content-type: application\/json; charset=utf-8\r$/im);
      expect(text).toMatch(/^date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r$/im);
      expect(text).toMatch(/^cache-control: no-store\r$/im);
      expect(text).toMatch(/^x-content-type-options: nosniff\r$/im);
      const [, requestId] = /^x-request-id: (\S+)\r$/im.exec(text) ?? [];
      const isLogged = () => gateway.logs.some((line) => line.requestId === requestId && line.status === status);
      await eventually(isLogged, 5000, 'a line in the log');
      if (status === 405) expect(text).toMatch(new RegExp(`\r\nAllow: ${ALLOWED}\r\n.*This is no proxy\\.`, 's'));
    });

    it.concurrent.each(['G', 'GET /v1/pets HTTP/1.1', `GET /v1/pets HTTP/1.1\r\n${HOST}`])(
      'half a request that ends (%j) is answered or closed, without 5xx',
      async (bytes) => {
        const { statuses } = readAnswers(await sendRaw(gateway.port, bytes, { ...QUIET, half: false }));
        expect([[], [400]]).toContainEqual(statuses);
      },
    );

    test('a body that ends early is no animal', async () => {
      const bytes = createHead('Content-Length: 500') + BODY;
      const { statuses } = readAnswers(await sendRaw(gateway.port, bytes, { ...QUIET, half: false }));
      expect(statuses).toEqual([400]);
      expect(await gateway.storedIds()).toEqual([]);
    });

    it.each([
      ['a wrong size', 'zz\r\n{}\r\n0\r\n\r\n'],
      ['no end', '1c\r\n{"name":"Rex","categoryId":1}X'],
      ['an endless size', `${'f'.repeat(40)}\r\n`],
    ])('chunks with %s are refused', async (_what, chunks) => {
      const { errors } = readAnswers(await sendRaw(gateway.port, createHead(CHUNKED) + chunks, QUIET));
      expect(errors.map(({ code }) => code)).toEqual(['bad_request']);
    });
  });

  it.each([
    ...'/v1/pets /graphql?query={pets{id}} /graphql?query={pets(limit:0){id}} /graphql?query={'.split(' '),
    ...'/docs / /v1/openapi.json'.split(' '),
  ])('a GET of %s whose body goes wrong is refused, and that is no fault in the log', async (path) => {
    const answer = await sendRaw(gateway.port, `${get(path, authorization(), CHUNKED)}no size\r\n`, QUIET);
    expect(readAnswers(answer).statuses).toEqual([400]);
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    const [, requestId] = /^x-request-id: (\S+)\r$/im.exec(answer) ?? [];
    const ofIt = () => gateway.logs.filter((line) => line.requestId === requestId);
    await eventually(() => ofIt().some(({ msg }) => msg === 'request'), 5000, 'its line in the log');
    expect(ofIt().map(({ level }) => level)).toEqual([30]);
  });

  it.concurrent.each([
    ['empty lines before the request', () => `\r\n\r\n${get('/v1/pets', authorization())}`, [200]],
    ['HTTP/0.9, which has no headers', () => 'GET /v1/pets\r\n\r\n', [401]],
    ['HTTP/1.0 without a Host', () => `GET /v1/pets HTTP/1.0\r\n${authorization()}\r\n\r\n`, [200]],
    ['an address in the request line', () => get('http://pets.example/v1/pets', authorization()), [200]],
    ['an address without a path', () => get('http://pets.example?x'), [200]],
    ['an https address', () => get('HTTPS://pets.example:8443/v1/pets', authorization()), [200]],
    ...['pets', 'pets_1.example:', '127.0.0.1:80', '[::1]:65535', 'a.b~c!$&()*+;=%41', 'x'.repeat(255)].map(
      (host) =>
        [`Host: ${host}`, () => `GET /livez HTTP/1.1\r\nHost: ${host}\r\n\r\n`, [200]] as [
          string,
          () => string,
          number[],
        ],
    ),
    ['two lines of Authorization', () => get('/v1/pets', authorization(), 'Authorization: Bearer x'), [401]],
    ['two equal lines of Authorization', () => get('/graphql?query={x}', authorization(), authorization()), [401]],
    ['249 lines', () => get('/livez', ...Array(248).fill('a:')), [200]],
    ['a refused target and a good one', () => get('http://') + get('/livez'), [400, 200]],
    ['OPTIONS *', () => `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`, [404]],
    ['TRACE', () => `TRACE /v1/pets HTTP/1.1\r\n${HOST}${authorization()}\r\n\r\n`, [405]],
    ['an unknown expectation', () => get('/v1/pets', authorization(), 'Expect: cookies'), [200]],
    [
      'an upgrade that nobody offers',
      () => get('/v1/pets', authorization(), 'Connection: Upgrade', 'Upgrade: websocket'),
      [200],
    ],
    ['three requests in one packet', () => get('/v1/pets', authorization()).repeat(3), [200, 200, 200]],
    ['a good request before a bad one', () => `${get('/v1/pets', authorization())}garbage\r\n\r\n`, [200, 400]],
    ['200 headers that nobody reads', () => get('/v1/pets', authorization(), ...Array(200).fill('a:')), [200]],
    ['a GET with a body', () => `${get('/v1/pets', authorization(), 'Content-Length: 5')}hello`, [200]],
  ])('what HTTP allows is answered: %s', async (_what, bytes, expected) => {
    expect(await statusesOf(bytes(), expected.length)).toEqual(expected);
  });

  describe('who waits for 100 Continue', () => {
    const waiting = (path: string, ...headers: string[]) =>
      `POST ${path} HTTP/1.1\r\n${HOST}${['Expect: 100-continue', ...headers].join('\r\n')}\r\n\r\n`;
    let reader = '';
    let limited: Awaited<ReturnType<typeof startGateway>>;
    beforeAll(async () => {
      reader = (await gateway.keys.create({ name: 'reader', expiresAt: null, readOnly: true })).key;
      limited = await startGateway(SQLITE, { RATE_LIMIT: '1/1h' });
      await limited.request('/v1/pets');
    });

    it.concurrent.each([
      ['no key', 401, '/v1/pets', () => [JSON_TYPE, LENGTH]],
      ['a wrong key, in chunks', 401, '/v1/pets', () => ['Authorization: Bearer x', JSON_TYPE, CHUNKED]],
      ['no key for GraphQL', 401, '/graphql', () => [JSON_TYPE, LENGTH]],
      ['a key that may only read', 403, '/v1/pets', () => [`Authorization: Bearer ${reader}`, JSON_TYPE, LENGTH]],
      ['no such path', 404, '/v1/cats', () => [authorization(), JSON_TYPE, LENGTH]],
      ['a method that is not allowed', 405, '/v1/pets/1', () => [authorization(), JSON_TYPE, LENGTH]],
      ['an open path that takes no body', 405, '/livez', () => [JSON_TYPE, LENGTH]],
      ['a body that is too large', 413, '/v1/pets', () => [authorization(), JSON_TYPE, 'Content-Length: 9999999']],
      ['another type', 415, '/v1/pets', () => [authorization(), 'Content-Type: text/xml', LENGTH]],
      ['a coding', 415, '/graphql', () => [authorization(), 'Content-Encoding: gzip', JSON_TYPE, LENGTH]],
      ['a wrong Idempotency-Key', 400, '/v1/pets', () => [authorization(), 'Idempotency-Key: é', JSON_TYPE, LENGTH]],
      ['an invalid Host', 400, '/v1/pets', () => [authorization(), JSON_TYPE, LENGTH]],
      ['too many requests', 429, '/v1/pets', () => [`Authorization: Bearer ${limited.key}`, JSON_TYPE, LENGTH]],
    ])('hears a refusal in its place: %s is %i', async (what, status, path, headers) => {
      const head = waiting(path, ...headers()).replace(HOST, what === 'an invalid Host' ? 'Host: a b\r\n' : HOST);
      const { port } = what === 'too many requests' ? limited : gateway;
      // The client, which has not sent its body, is told that nobody will read it.
      expect(await sendRaw(port, head, { quietMs: 500 })).toMatch(
        new RegExp(`^HTTP/1\\.1 ${status} [^]*Connection: close`),
      );
    });

    it.each([
      ['with its body at once', 0],
      ['with its body when it is asked for', 1],
    ])('hears it when its body is wanted, %s, then the answer', async (_, asks) => {
      for (const [path, body, status] of [
        ['/v1/pets', BODY, 201],
        ['/graphql', '{"query":"{pets{id}}"}', 200],
      ] as const) {
        const head = waiting(path, authorization(), JSON_TYPE, `Content-Length: ${body.length}`);
        const socket = connect(gateway.port, '127.0.0.1');
        afterFile(() => void socket.destroy());
        let text = '';
        socket.setEncoding('latin1').on('data', (chunk) => (text += chunk));
        socket.write(asks ? head : head + body);
        await eventually(() => text.includes('100 Continue\r\n\r\n'), 5000, 'it is asked for');
        if (asks) socket.write(body);
        await eventually(() => readAnswers(text).statuses.length === 2, 5000, 'it is answered');
        expect(readAnswers(text).statuses).toEqual([100, status]);
      }
    });

    test('in HTTP/1.0 hears none', async () => {
      const head = waiting('/v1/pets', authorization(), JSON_TYPE, LENGTH).replace('HTTP/1.1', 'HTTP/1.0');
      expect(await statusesOf(head + BODY)).toEqual([201]);
    });
  });

  it.each([
    ['the target instead of the Host', () => get('http://[::1]:80/v1/openapi.json'), 'http://[::1]:80/v1'],
    ['the address that was reached', () => 'GET /v1/openapi.json HTTP/1.0\r\n\r\n', () => `${gateway.url}/v1`],
  ])('the base address is %s', async (_what, bytes, expected) => {
    const [, url] = /"servers":\[\{"url":"([^"]+)/.exec(await sendRaw(gateway.port, bytes(), QUIET)) ?? [];
    expect(url).toBe(typeof expected === 'string' ? expected : expected());
  });

  test('the base address of a server that is reached by IPv6 has the address in brackets', async () => {
    const { port } = await startGateway(SQLITE, { HOST: '::' });
    const answer = await sendRaw(port, 'GET /v1/openapi.json HTTP/1.0\r\n\r\n', QUIET);
    expect(answer).toContain(`"servers":[{"url":"http://[::ffff:127.0.0.1]:${port}/v1"`);
  });

  it.concurrent.each([
    ['at once', 'Content-Length: 500000', ' '.repeat(500_000)],
    ['in chunks', 'Transfer-Encoding: chunked', `7a120\r\n${' '.repeat(500_000)}\r\n0\r\n\r\n`],
  ])('after a body that was too large, sent %s, the connection serves its next request', async (_way, length, body) => {
    expect(await statusesOf(createHead(length) + body + get('/v1/pets', authorization()), 2)).toEqual([413, 200]);
  });

  it.each([
    ['no body', ''],
    ['half a body', '{"name":"Rex",'],
  ])('a header and then %s: 400 in time, and no animal', async (_what, half) => {
    // A client that is silent for `timeout` has not left an answer unread: it is told what it did.
    const timeouts = { timeout: 300, requestTimeout: 1000, headersTimeout: 1000, connectionsCheckingInterval: 100 };
    const impatient = await startGateway(SQLITE, {}, timeouts);
    const startedAt = performance.now();
    const text = await sendRaw(impatient.port, createHead(LENGTH, impatient.key) + half, { quietMs: 10_000 });
    expect(msSince(startedAt)).toBeLessThan(5000);
    const message = 'The request did not arrive in time.';
    expect(readAnswers(text)).toEqual({ statuses: [400], errors: [{ code: 'bad_request', message, status: 400 }] });
    expect((await impatient.request('/v1/pets')).text).toBe('[]');
    const [, requestId] = /^x-request-id: (\S+)\r$/im.exec(text) ?? [];
    expect(impatient.logs.find((line) => line.requestId === requestId)).toMatchObject({
      status: 400,
      path: '/v1/pets',
    });
    expect(impatient.logs.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });

  test('a length that is too large is refused before the body comes', async () => {
    const head = createHead('Content-Length: 9999999999');
    expect(readAnswers(await sendRaw(gateway.port, head, QUIET)).statuses).toEqual([413]);
  });
});
