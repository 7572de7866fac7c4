import { describe, expect, it } from 'vitest';
import { sendRaw } from '../support/client.ts';
import { leastCpuTimes } from '../support/cpu-time.ts';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { rawPost } from '../support/raw-requests.ts';

/** Node's limit for the request line and all headers, and ours for a body, less what the rest of the request needs. */
const HEADER_BYTES = 15_000;
const BODY_BYTES = 65_000;
/** Nothing that anybody sends may hold the process for longer, in ms. */
const HELD_MAX_MS = 250;
/** Twice the input may cost at most this many times as much: in proportion is 2, by the square 4. */
const GROWTH_MAX = 3;
/** What costs less than this many small requests is not worth an attack, however it grows. */
const SMALL_REQUESTS = 6;

const CLOSE = 'Connection: close\r\n';

/** One kind of input: a text of about so many bytes. */
type Input = (bytes: number) => string;
const repeat =
  (piece: string, before = '', after = ''): Input =>
  (bytes) =>
    before + piece.repeat(Math.max(1, Math.floor((bytes - before.length - after.length) / piece.length))) + after;

const HEADERS: readonly (readonly [header: string, path: string, value: Input])[] = [
  ['Accept', '/', repeat(',')],
  ['Accept', '/graphql', repeat('a/b;q=0.1,')],
  ['Accept', '/graphql', repeat(';q')],
  ['Accept-Encoding', '/docs', repeat(',')],
  ['Accept-Encoding', '/docs', repeat('a;q=0.1,')],
  ['If-None-Match', '/docs', repeat('W/"x",')],
  ['If-None-Match', '/docs', repeat(' ,')],
  ['Cache-Control', '/docs', repeat('no-cache ,')],
  ['X-Request-Id', '/v1/pets', repeat('a')],
  ['X-Request-Id', '/v1/pets', repeat('petstore')],
  ['traceparent', '/v1/pets', repeat('0', '00-')],
  ['Origin', '/v1/pets', repeat('a.')],
  ['Access-Control-Request-Headers', '/v1/pets', repeat('x-a,')],
  ['Idempotency-Key', '/v1/pets', repeat('x')],
  ['Authorization', '/v1/pets', repeat(' ', 'Bearer ', 'x y')],
  ['Authorization', '/v1/pets', repeat('=', 'Bearer a', '~')],
  ['Authorization', '/graphql', repeat('a', 'Bearer petstore_')],
  ['Content-Type', '/v1/pets', repeat(' ', 'application/json', 'x')],
  ['Content-Type', '/v1/pets', repeat(';a=b', 'application/json')],
  ['Content-Encoding', '/v1/pets', repeat(' ', 'a', 'b')],
  ['Host', '/v1/pets', repeat('a:')],
  ['Host', '/v1/pets', repeat(':', '[', ']')],
  ['Cookie', '/v1/pets', repeat('a=b; ')],
  ['Connection', '/v1/pets', repeat('close,')],
  ['X', '/v1/pets', repeat('\r\na:')],
  ['X', '/', repeat('\r\nAccept: a')],
];

const TARGETS: readonly Input[] = [
  repeat('&', '/v1/pets?'),
  repeat('limit=1&', '/v1/pets?'),
  repeat('%', '/v1/pets?status='),
  repeat('%F0', '/v1/pets?status='),
  repeat('a=b&', '/graphql?query={x}&'),
  repeat('1', '/v1/pets/'),
  repeat('1', '/v1/pets?after='),
  repeat('/', '/v1/pets'),
  repeat('a/', '/'),
  repeat('%25', '/'),
  repeat('%2525', '/petstore_'),
  repeat('\\', '/'),
  repeat('\\', '/v1/%%341'),
  repeat('%u{0', '/'),
  repeat('a'.repeat(29).concat('/'), '/'),
  repeat('?', '/'),
  repeat('a.', 'http://', '/'),
  repeat('[', 'http://', '/'),
  repeat('@', '/a'),
];

const animal =
  (categoryId: Input): Input =>
  (bytes) =>
    `{"name":"a","categoryId":${categoryId(bytes - 30)}}`;
const BODIES: readonly Input[] = [
  animal(repeat('1')),
  animal(repeat('0', '1')),
  animal(repeat('0', '1', '1')),
  animal(repeat('0', '1', '1.5')),
  animal(repeat('0', '0.', '1')),
  animal(repeat('10', '1.', 'e5')),
  animal(repeat('9', '1e')),
  animal(repeat('0', '1e-', '1')),
  animal(repeat('1e2,', '[', '1]')),
  repeat('[', '', '1e1'),
  repeat('{"a":', '{"b":1e1,"c":'),
  repeat('"a":12345678901234567890,', '{', '"b":1}'),
  repeat('\\u0041', '{"name":"', '","categoryId":1}'),
  repeat('\\', '{"name":"'),
  repeat('\\"', '{"name":"'),
  repeat(' ', '{"name":"a","categoryId":1', 'x'),
  repeat('\n', '', 'x'),
  repeat('1.1.', '"', '"'),
  repeat('"', '{'),
];

/** A request of one kind, with an input of so many bytes. */
type Request = (bytes: number, key: string) => string;
const KINDS: readonly (readonly [what: string, most: number, request: Request])[] = [
  ...HEADERS.map(([header, path, value]): (typeof KINDS)[number] => [
    `${header}: ${JSON.stringify(value(60))} at ${path}`,
    HEADER_BYTES,
    (bytes, key) => get(path, [`${header}: ${value(bytes)}`], header === 'Host' ? [] : ['Host: x'], key),
  ]),
  ...TARGETS.map((target): (typeof KINDS)[number] => [
    `target ${target(60)}`,
    HEADER_BYTES,
    (bytes, key) => get(target(bytes), [], ['Host: x'], key),
  ]),
  ...BODIES.map((body): (typeof KINDS)[number] => [
    `body ${JSON.stringify(body(60))}`,
    BODY_BYTES,
    (bytes, key) => rawPost('/v1/pets', key, body(bytes), CLOSE),
  ]),
];

function get(target: string, headers: string[], host: string[], key: string): string {
  const own = headers.some((header) => header.startsWith('Authorization')) ? [] : [`Authorization: Bearer ${key}`];
  const lines = [`GET ${target} HTTP/1.1`, 'Connection: close', ...host, ...own, ...headers];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

describe('the work for a request grows with its bytes, not with their square', () => {
  const started = startGateway(SQLITE);
  let small: number | undefined; // the CPU time of a small request, client and server together, in ms

  it.each(KINDS)('%s', async (_what, most, request) => {
    const { port, key } = await started;
    const sending = (text: string) => () => sendRaw(port, text, { quietMs: 10_000 });
    small ??= (await leastCpuTimes([sending(get('/livez', [], ['Host: x'], key))]))[0] ?? 0;
    const allowed = (half: number) => Math.max(GROWTH_MAX * half, SMALL_REQUESTS * (small ?? 0));
    const [half = 0, whole = 0] = await leastCpuTimes(
      [sending(request(most / 2, key)), sending(request(most, key))],
      ([half = 0, whole = 0]) => whole < Math.min(allowed(half), HELD_MAX_MS),
    );
    expect(whole).toBeLessThan(HELD_MAX_MS);
    expect(whole).toBeLessThan(allowed(half));
  });
});

/** The largest body of all settings: most of it is one long string, or it has too many values. */
const LARGE_BYTES = 4 * 2 ** 20;
const graphql =
  (variables: Input, document = 'query($a: [ID!]) { pets(limit: 1) { id } }'): Input =>
  (bytes) =>
    `{"query":"${document}","variables":${variables(bytes - document.length - 30)}}`;
const add =
  'mutation($name: String!, $categoryId: ID!) { addPet(input: { name: $name, categoryId: $categoryId }) { id name } }';
const addInput = 'mutation($input: NewPetInput!) { addPet(input: $input) { id name } }';
/** One variable that many fields have. */
const many = (head: string, field: string) =>
  `${head} { ${Array.from({ length: 30 }, (_, index) => `a${index}: ${field}`).join(' ')} }`;
const addMany = many('mutation($input: NewPetInput!)', 'addPet(input: $input) { id }');
const cursors = many('query($after: String)', 'petsConnection(after: $after) { pageInfo { endCursor } }');
const LARGE_BODIES: readonly (readonly [path: string, body: Input])[] = [
  ...BODIES.map((body) => ['/v1/pets', body] as const),
  ['/v1/pets', repeat('x', '{"categoryId":1,"name":"', '"}')],
  ['/v1/pets', repeat('111111111111111x', '{"categoryId":1,"name":"', '"}')],
  ['/v1/pets', repeat('"', '{"categoryId":1,"name":', '}')],
  ['/v1/pets', repeat('x', `{"categoryId":[${'1e2,'.repeat(30_000)}1],"name":"`, '"}')],
  ['/v1/pets', repeat('x', `{"name":"a","categoryId":"`, '"}')],
  ['/v1/pets', repeat('x', `{"name":"a","categoryId":1,"status":"`, '"}')],
  ['/v1/pets', repeat('{},', '{"a":[', '1e1]}')],
  ['/graphql', repeat('x', '{"query":"', '"}')],
  ['/graphql', repeat('x', '{"query":"{ pets { id } }","operationName":"', '"}')],
  ['/graphql', graphql(repeat('x', '{"a":"', '"}'))],
  ['/graphql', graphql(repeat('x', '{"a":["', '"]}'))],
  ['/graphql', graphql(repeat('x', '{"', '":1}'))],
  ['/graphql', graphql(repeat('x', '{"name":"', '","categoryId":"1"}'), add)],
  ['/graphql', graphql(repeat('x', '{"name":"a","categoryId":"', '"}'), add)],
  ['/graphql', graphql(repeat('x', '{"input":{"name":"a","categoryId":"1","', '":1}}'), addInput)],
  ['/graphql', graphql(repeat('\\"', '{"input":{"categoryId":"1","name":"', '"}}'), addMany)],
  ['/graphql', graphql(repeat('aWQ6', '{"after":"', '"}'), cursors)],
  ['/graphql', graphql(repeat('x', `{"input":{"name":"a","categoryId":[${'1e2,'.repeat(30_000)}"`, '"]}}'), addInput)],
];

describe('with the largest BODY_LIMIT, too', () => {
  const started = startGateway(SQLITE, { BODY_LIMIT: String(LARGE_BYTES) });
  it.each(
    LARGE_BODIES.map(([path, body]) => [`${path} ${JSON.stringify(body(90)).slice(0, 120)}`, path, body] as const),
  )('%s', async (_what, path, body) => {
    const { port, key } = await started;
    const request = rawPost(path, key, body(LARGE_BYTES), CLOSE);
    const [ms = 0] = await leastCpuTimes(
      [() => sendRaw(port, request, { quietMs: 10_000 })],
      ([ms = 0]) => ms < HELD_MAX_MS,
    );
    expect(ms).toBeLessThan(HELD_MAX_MS);
  });
});
