import { describe, expect, it, test } from 'vitest';
import { generateApiKey } from '../../src/gateway/keys/api-key.ts';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { sendRaw } from '../support/client.ts';
import { describeEachEngine } from '../support/engines.ts';
import { type Call, type CheckedGateway, expectRefusal, useGateway } from './checked-gateway.ts';

const NO_TOKEN = 'Bearer realm="petstore"';
const WRONG_TOKEN = 'Bearer realm="petstore", error="invalid_token"';
/** The message for a text that is no key of ours, whether or not one was meant. */
const MISTYPED = 'The API key is cut or mistyped: a key has 47 characters, without quotes or spaces.';
const json = { 'content-type': 'application/json' };

/** Right and wrong: without a key all of it is the same. All paths and methods are in machine/closed. */
const REQUESTS: readonly (readonly [method: string, path: string, call: Call])[] = [
  ['GET', '/v1/pets', {}],
  ['GET', '/v1/pets?limit=0', {}],
  ['GET', '/v1/pets?limit=5&limit=5', {}],
  ['GET', '/v1/pets/abc', {}],
  ['POST', '/v1/pets', { headers: json, body: '{"name":"Rex","categoryId":1}' }],
  ['POST', '/v1/pets', { headers: json, body: '{' }],
  ['POST', '/v1/pets', { headers: { 'content-type': 'text/plain' }, body: 'Rex' }],
  ['POST', '/v1/pets', { headers: json, body: 'x'.repeat(70_000) }],
  ['POST', '/v1/pets', { headers: { ...json, 'idempotency-key': 'a b' }, body: '{}' }],
  ['GET', '/v1/pets/', {}],
  ['GET', '/v1/%ff', {}],
  ['GET', '/v1/openapi.json/', {}],
];

const alter = (key: string) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');

const UNKNOWN = 'The API key is not known.';
const REQUIRED = 'An API key is required: send the header';
const NO_WORD = 'The Authorization header lacks the word Bearer: send';
const NO_KEY = 'The Authorization header lacks the API key: send';

/** What an Authorization header may be, of a gateway with the key `key`, and how the refusal begins. */
const HEADERS: readonly (readonly [what: string, write: (key: string) => string, begins: string])[] = [
  ['an empty header', () => '', REQUIRED],
  ['the scheme alone', () => 'Bearer', NO_KEY],
  ['the scheme and a space', () => 'Bearer ', NO_KEY],
  ['the key alone', (key) => key, NO_WORD],
  ['Basic', (key) => `Basic ${Buffer.from(`${key}:`).toString('base64')}`, REQUIRED],
  ['Token', (key) => `Token ${key}`, NO_WORD],
  ['Bearer with a colon', (key) => `Bearer: ${key}`, NO_WORD],
  ['a key of ours that was never made', () => `Bearer ${generateApiKey()}`, UNKNOWN],
  ['a key with another last character', (key) => `Bearer ${alter(key)}`, MISTYPED],
  ['a key cut short', (key) => `Bearer ${key.slice(0, -1)}`, MISTYPED],
  ['a key and more', (key) => `Bearer ${key} more`, MISTYPED],
  ['two keys', (key) => `Bearer ${key}, Bearer ${key}`, MISTYPED],
  ['a key in quotes', (key) => `Bearer "${key}"`, MISTYPED],
  ['a key in capitals', (key) => `Bearer ${key.toUpperCase()}`, MISTYPED],
  ['a key in percent-encoding', (key) => `Bearer ${key.replace('_', '%5F')}`, MISTYPED],
  ['a key after a tab', (key) => `Bearer\t${key}`, NO_WORD],
  ['a key as base64 would end', (key) => `Bearer ${key}=`, MISTYPED],
  ['no word between', (key) => `Bearer${key}`, NO_WORD],
  ['Digest', (key) => `Digest ${key}`, NO_WORD],
  ['a JSON Web Token', () => 'Bearer eyJhbGciOiJub25lIn0.e30.', MISTYPED],
  ['SQL', () => "Bearer ' OR '1'='1", MISTYPED],
  ['8000 characters', () => `Bearer ${'a'.repeat(8000)}`, MISTYPED],
];

describeEachEngine('authentication', (engine) => {
  const gateway = useGateway(engine, {}, ({ createPet }) => createPet({ name: 'Rex', categoryId: 1 }));

  describe('401 without a key', () => {
    it.each(REQUESTS)('%s %s', async (method, path, call) => {
      const answer = await gateway.call(method, path, { ...call, key: null });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe(NO_TOKEN);
      expect(answer.headers.has('allow')).toBe(false);
    });

    test('a key in the query or in a cookie is none', async () => {
      const { key } = gateway;
      for (const name of ['access_token', 'api_key', 'key']) {
        const answer = await gateway.call('GET', `/v1/pets?${name}=${key}`, {
          key: null,
          headers: { cookie: `${name}=${key}` },
        });
        expectRefusal(answer, 401, /^An API key is required/);
      }
    });
  });

  describe('401 with a wrong header', () => {
    it.each(HEADERS)('%s', async (_what, write, begins) => {
      const answer = await gateway.call('GET', '/v1/pets', {
        key: null,
        headers: { authorization: write(gateway.key) },
      });
      expect(answer.status).toBe(401);
      expect(answer.json.message.slice(0, begins.length)).toBe(begins);
      const hasToken = [UNKNOWN, MISTYPED].includes(begins);
      expect(answer.headers.get('www-authenticate')).toBe(hasToken ? WRONG_TOKEN : NO_TOKEN);
    });

    test('bytes that are no ASCII', async () => {
      const head = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${'\xff\xfe'}\r\n\r\n`;
      expect(await sendRaw(gateway.port, Buffer.from(head, 'latin1'))).toMatch(/^HTTP\/1.1 401 /);
    });
  });

  describe('401 with a key that is no longer good', () => {
    const makeKey = ({ keys }: CheckedGateway, expiresAt: Date | null) => keys.create({ name: 'other', expiresAt });

    test('an expired one', async () => {
      const { key } = await makeKey(gateway, new Date(Date.now() - 1));
      expectRefusal(await gateway.call('GET', '/v1/pets', { key }), 401, 'The API key has expired.');
    });

    test('a revoked one', async () => {
      const { id, key } = await makeKey(gateway, null);
      await gateway.keys.revoke(id as Int64); // the database's own id
      const answer = await gateway.call('GET', '/v1/pets', { key });
      expectRefusal(answer, 401, 'The API key has been revoked.');
      expect(answer.headers.get('www-authenticate')).toBe(WRONG_TOKEN);
    });
  });

  describe('a good key', () => {
    it.each(['Bearer', 'bEaReR', '  Bearer  '])('with the scheme "%s" is let in', async (scheme) => {
      const authorization = `${scheme} ${gateway.key}`;
      expect((await gateway.call('GET', '/v1/pets', { key: null, headers: { authorization } })).status).toBe(200);
    });

    test('that expires later is let in', async () => {
      const { key } = await gateway.keys.create({ name: 'later', expiresAt: new Date(Date.now() + 60_000) });
      expect((await gateway.call('GET', '/v1/pets', { key })).status).toBe(200);
    });
  });

  test('without a key a preflight of what there is not is answered, too', async () => {
    const headers = { origin: 'https://a.example', 'access-control-request-method': 'POST' };
    expect((await gateway.call('OPTIONS', '/v1/no/such/path', { key: null, headers })).status).toBe(204);
  });
});
