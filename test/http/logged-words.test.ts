import { describe, expect, test } from 'vitest';
import { sendRaw } from '../support/client.ts';
import { SQLITE } from '../support/engines.ts';
import { gatewayOf, type TestGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';
import { plainRequest } from '../support/plain-request.ts';

/** A word that is nowhere else, by the place where it is sent. */
const wordOf = (place: string) => `zq${place.replaceAll('-', '')}qz`;

/** Headers that people, browsers, proxies and tools send. */
const HEADERS =
  'accept accept-encoding accept-language baggage cache-control cookie forwarded from host if-match ' +
  'if-modified-since if-none-match origin proxy-authorization range referer tracestate user-agent via x-api-key ' +
  'x-amzn-trace-id x-correlation-id x-csrf-token x-forwarded-for x-forwarded-host x-forwarded-proto x-real-ip';
const names = HEADERS.split(' ');
const marked = Object.fromEntries(names.map((name) => [name, wordOf(name)]));
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

interface Call {
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

const query = `query ${wordOf('operation')}($v: String!) { ${wordOf('alias')}: __typename addPet(name: $v) { id } }`;
const mutation = 'mutation ($input: NewPetInput!) { addPet(input: $input) { id } }';
const NEW_PET = { name: wordOf('name'), categoryId: 4711008150 };
const JSON_TYPE = { 'content-type': 'application/json', accept: 'application/json' };
const post = (path: string, body: unknown): Call => ({ method: 'POST', path, body, headers: JSON_TYPE });

/** Requests of every outcome, with a word of its own in each place. */
const CALLS: readonly Call[] = [
  { path: `/v1/pets?after=1&x=${wordOf('query')}` },
  { path: `/v1/pets?status=${wordOf('value')}` },
  { path: '/v1/pets', headers: { authorization: `Bearer ${wordOf('bearer')}` } },
  { path: '/v1/pets', headers: { authorization: `Basic ${wordOf('basic')}` } },
  { path: `/graphql?query=${wordOf('document')}` },
  { method: 'DELETE', path: `/v1/pets?x=${wordOf('deleted')}` },
  { method: 'POST', path: '/v1/pets', body: wordOf('text'), headers: { 'content-type': wordOf('type') } },
  post('/v1/pets', NEW_PET),
  post('/v1/pets', { ...NEW_PET, status: wordOf('status'), [wordOf('member')]: 1 }),
  post('/v1/pets', wordOf('nojson')),
  post('/graphql', { query, variables: { v: wordOf('variable') }, operationName: wordOf('operation') }),
  post('/graphql', { query: mutation, variables: { input: NEW_PET }, extensions: { x: wordOf('extension') } }),
  post('/graphql', { query: mutation, variables: { input: { ...NEW_PET, status: wordOf('enum') } } }),
  post('/graphql', { query: `{ ${wordOf('unparsed')} ` }),
  post('/graphql', { query: `query ${wordOf('named')} { ${wordOf('pets')}: pets { id } }` }),
];

let asked = 0;

async function ask({ port, key }: TestGateway, { method = 'GET', path, body, headers }: Call): Promise<number> {
  const ours = {
    authorization: `Bearer ${key}`,
    traceparent: TRACEPARENT,
    'x-request-id': wordOf('requestid'),
    'idempotency-key': `${wordOf('idempotencykey')}${++asked}`, // else it would be the first answer again
  };
  const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const options = { method, headers: { ...marked, ...ours, ...headers } };
  return (await plainRequest(`http://127.0.0.1:${port}${path}`, options, sent)).status ?? 0;
}

/** Asks all, for so many outcomes; the lines of the log that came of it. */
async function linesOf(gateway: TestGateway, outcomesLeast: number): Promise<string> {
  const before = gateway.logs.length;
  const statuses: number[] = [];
  for (const call of CALLS) statuses.push(await ask(gateway, call));
  expect(new Set(statuses).size, `not of every outcome: ${statuses}`).toBeGreaterThanOrEqual(outcomesLeast);
  const lines = () => gateway.logs.slice(before);
  await eventually(() => lines().filter(({ msg }) => msg === 'request').length === CALLS.length, 5000, 'all is logged');
  return JSON.stringify(lines());
}

/** The meters whose labels come with a request. */
const LABELLED = [
  'http_request_duration_seconds',
  'graphql_operations_total',
  'graphql_errors_total',
  'deprecated_use_total',
];

/** All that a line may have, beside pino's own `level`, `time` and `msg`. */
const MEMBERS: Readonly<Record<string, string>> = {
  request: 'aborted api clientAddress keyId method ms operation path requestId status traceparent',
  'request refused unread': 'clientAddress reason requestId status',
};

/** The members of lines that the table does not have, as `line: member`. */
const unknownMembers = (lines: TestGateway['logs']) =>
  lines.flatMap(({ level, time, msg, ...members }) => {
    const known = MEMBERS[String(msg)]?.split(' ') ?? Object.keys(members);
    return Object.keys(members).flatMap((name) => (known.includes(name) ? [] : `${msg}: ${name}`));
  });

const leaked = (text: string) => text.match(/zq(?!requestid)\w+?qz|4711008150/gi) ?? [];

describe('what is sent, in the log', () => {
  const gateway = gatewayOf(SQLITE, { LOG_LEVEL: 'trace' });

  // Each leaves the database worse than it was: their order is that of the table.
  test.each([
    ['while all is well', 3, async () => {}],
    ['with a table away', 3, () => gateway.database.knex.schema.renameTable('pets', 'pets_gone')],
    ['with the database closed', 2, () => gateway.database.close()], // 401 and 503, once the key is not remembered any more
  ])('is nothing of headers, query, body and variables, %s', async (_when, outcomesLeast, spoil) => {
    await spoil();
    const lines = await linesOf(gateway, outcomesLeast);
    expect(leaked(lines)).toEqual([]);
    expect(lines).toContain(TRACEPARENT);
    expect(lines).toContain(wordOf('requestid'));
  });

  test('is the path, and nothing of what the parser refuses', async () => {
    const before = gateway.logs.length;
    await ask(gateway, { path: `/${wordOf('path')}?${wordOf('query')}` });
    await sendRaw(gateway.port, `GET /v1/pets HTTP/1.1\r\nHost: x\r\nCookie ${wordOf('cookie')}\r\n\r\n`);
    await sendRaw(gateway.port, `GET /v1/pets HTTP/1.1\r\nHost: ${wordOf('host')}/\r\nConnection: close\r\n\r\n`);
    const lines = JSON.stringify(gateway.logs.slice(before));
    expect(leaked(lines)).toEqual([wordOf('path')]);
  });

  test('is nothing in the metrics, the path neither', async () => {
    const { registry } = gateway.metrics;
    const counted = LABELLED.map((name) => registry.getSingleMetricAsString(name));
    const page = (await Promise.all(counted)).join('\n');
    expect(page).toContain('graphql_operations_total{type="query"}');
    expect(page.match(/zq\w+?qz|4711008150/gi)).toBeNull();
  });

  test('is in members that are known: no line says what nobody has thought of', () => {
    expect([...new Set(unknownMembers(gateway.logs))]).toEqual([]);
    expect(gateway.logs.map(({ msg }) => msg)).toEqual(expect.arrayContaining(Object.keys(MEMBERS)));
  });
});
