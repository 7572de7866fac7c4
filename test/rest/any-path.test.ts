import { describe, expect, it, test } from 'vitest';
import { SQLITE } from '../support/engines.ts';
import { eventually } from '../support/load.ts';
import { OPERATIONS } from '../support/petstore-api.ts';
import { expectRefusal, useGateway } from './checked-gateway.ts';

/** What exists instead of an unknown path, if something is near to it. */
const UNKNOWN: readonly (readonly [path: string, meant?: string])[] = [
  ['/v1'],
  ['/v1/cats', '/v1/pets'],
  ['/v1/Pets', '/v1/pets'],
  ['/v1/pets/', '/v1/pets'],
  ['/v1//pets', '/v1/pets'],
  ['/v1/pets/1/photos'],
  ['/v1/openapi.yaml', '/v1/openapi.json'],
  ['/v1/pets%00'],
  ['/v2/pets', '/v1/pets'],
  ['/pets', '/v1/pets'],
  ['/v1/pet', '/v1/pets'],
  ['/openapi.json', '/v1/openapi.json'],
  ['/graphiql', '/graphql'],
  ['/readz', '/readyz'],
  ['/doc', '/docs'],
  ['/life', '/livez'],
  ['/..%2f..%2fetc/passwd'],
  ['/%'],
  ['/__proto__'],
];

/** `Allow` of a path: the methods of its rows, and HEAD beside GET. */
const allowOf = (path: string): string => {
  const rows = OPERATIONS.filter((operation) => operation.path === path);
  return rows
    .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    .sort()
    .join(', ');
};

// A method that a path gets one day is no case any more.
const NOT_ALLOWED = [
  ...['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'].map((method) => [method, '/v1/pets', allowOf('/pets')] as const),
  ...['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'].flatMap((method) =>
    ['1', 'abc'].map((id) => [method, `/v1/pets/${id}`, allowOf('/pets/{petId}')] as const),
  ),
  ['POST', '/v1/openapi.json', 'GET, HEAD'] as const,
].filter(([method, _path, allow]) => !allow.split(', ').includes(method));

const KEPT_IDS = ['a', 'order-7', 'A.b_c:d/e+f=g@h', 'd2ad6a1f-2f0c-4a5e-8f0e-1c9f0b1f7f7e', 'x'.repeat(128)];
const REPLACED_IDS = ['', 'a b', 'x'.repeat(129), '<script>', 'a,b', '"a"', 'é', 'a;b', '{}', 'petstore_a1'];
const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

const SEVERAL =
  '/v1/pets /v1/pets?limit=1 /v1/pets?limit=0 /v1/pets/1 /v1/pets/99 /v1/cats /v1/openapi.json /nope'.split(' ');

// Of one request or of its connection: fetch closes that of a HEAD.
const PASSING = ['date', 'x-request-id', 'connection', 'keep-alive'];

describe('any path', () => {
  const gateway = useGateway(SQLITE, {}, async ({ createPet }) => {
    await createPet({ name: 'Rex', categoryId: 1 });
    await createPet({ name: 'Max', categoryId: 2 });
  });

  /** The line of the log that tells of a request. */
  const lineOf = (headers: Headers) => {
    const isIt = ({ requestId }: Record<string, unknown>) => requestId === headers.get('x-request-id');
    return eventually(() => gateway.logs.find(isIt), 5000, 'its line in the log');
  };

  describe('404', () => {
    it.each(UNKNOWN.map(([path, meant]) => ({ path, meant })))('GET $path may mean $meant', async ({ path, meant }) => {
      const suggestion = meant === undefined ? '' : ` Did you mean ${meant}?`;
      const { json } = await gateway.get(path);
      expect(json.message).toBe(`GET ${path} does not exist.${suggestion} Reference: /docs`);
      expect([json.code, json.status]).toEqual(['not_found', 404]);
    });

    test('a long path is quoted up to 100 characters', async () => {
      const { json } = await gateway.get(`/${'x/'.repeat(5000)}`);
      expect(json.message).toBe(`GET /${'x/'.repeat(49)}x… does not exist. Reference: /docs`);
    });

    it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s /v1/cats', async (method) => {
      const answer = await gateway.call(method, '/v1/cats');
      expectRefusal(answer, 404, `${method} /v1/cats does not exist. Did you mean /v1/pets? Reference: /docs`);
      expect(answer.headers.has('allow')).toBe(false);
    });
  });

  it.each(NOT_ALLOWED)('405: %s %s is refused with Allow: %s', async (method, path, allow) => {
    const answer = await gateway.call(method, path);
    expectRefusal(answer, 405, /allows only/);
    expect(answer.headers.get('allow')).toBe(allow);
  });

  it.each(SEVERAL)('HEAD %s answers as GET does, without a body', async (path) => {
    const head = await gateway.call('HEAD', path);
    const get = await gateway.get(path);
    const lasting = ({ headers }: typeof get) => [...headers].filter(([name]) => !PASSING.includes(name));
    expect(head.text).toBe('');
    expect(head.status).toBe(get.status);
    expect(lasting(head)).toEqual(lasting(get));
  });

  test('HEAD of GraphiQL answers as GET', async () => {
    const init = { headers: { accept: 'text/html' } };
    const got = await gateway.request('/graphql', init);
    const head = await gateway.request('/graphql', { ...init, method: 'HEAD' });
    expect([got.status, head.status, head.text]).toEqual([200, 200, '']);
    for (const name of ['content-type', 'cache-control', 'vary', 'etag', 'content-security-policy']) {
      expect(head.headers.get(name)).toBe(got.headers.get(name));
    }
  });

  test.each([
    ['/', 'page'],
    ['/v1/openapi.json', 'openapi'],
    ['/docs', 'page'],
    ['/nowhere', 'unknown'],
  ])('the log says what was asked for at %s', async (path, operation) => {
    const { headers } = await gateway.request(path);
    expect((await lineOf(headers)).operation).toBe(operation);
  });

  it.each([
    ['kept in the log line', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', (sent: string) => sent],
    [
      'cut where a later version has more',
      `cc-${'0'.repeat(32)}-${'1'.repeat(16)}-01-${'x'.repeat(99)}`,
      (sent: string) => sent.slice(0, 64),
    ],
    ['left out when it is none', 'petstore_4bf92f3577b34da6', () => undefined],
  ])('traceparent is %s', async (_what, traceparent, logged) => {
    const { headers } = await gateway.call('GET', '/v1/pets', { headers: { traceparent } });
    expect((await lineOf(headers)).traceparent).toBe(logged(traceparent));
  });

  describe('X-Request-Id', () => {
    it.each(KEPT_IDS)('%.40s is kept', async (id) => {
      const { headers } = await gateway.call('GET', '/v1/pets', { headers: { 'x-request-id': id } });
      expect(headers.get('x-request-id')).toBe(id);
    });

    it.each(REPLACED_IDS)('"%.40s" is replaced by a new one', async (id) => {
      const { headers } = await gateway.call('GET', '/v1/pets', { headers: { 'x-request-id': id } });
      expect(headers.get('x-request-id')).toMatch(UUID);
    });

    it.each(SEVERAL)('each answer of %s has its own, and the log line of the request the same', async (path) => {
      const [one, two] = [await gateway.get(path), await gateway.get(path)];
      expect(one.headers.get('x-request-id')).not.toBe(two.headers.get('x-request-id'));
      for (const { headers, status } of [one, two]) expect((await lineOf(headers)).status).toBe(status);
    });
  });

  test('the log has 1024 characters of a path', async () => {
    const { headers } = await gateway.get(`/${'long/'.repeat(2000)}`);
    expect((await lineOf(headers)).path).toHaveLength(1024);
  });
});
