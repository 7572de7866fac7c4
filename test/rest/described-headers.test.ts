import { beforeAll, describe, expect, test } from 'vitest';
import { ApiError, ERRORS, type ErrorCode } from '../../src/gateway/errors.ts';
import { SQLITE } from '../support/engines.ts';
import { openApiDocument } from '../support/petstore-api.ts';
import { type Call, type CheckedGateway, startCheckedGateway } from './checked-gateway.ts';

const document = openApiDocument('http://petstore.example') as any;
const DESCRIBED = Object.keys(document.components.headers);

const ORDER = ['post', 'get', 'put', 'patch', 'delete'];

/** A response of the document with what it says of headers, by the name of its operation and its status. */
const RESPONSES = Object.values<any>(document.paths)
  .flatMap((item) => Object.values<any>(item))
  .flatMap(({ operationId, responses }) =>
    Object.entries<any>(responses).map(([status, { $ref, ...own }]) => {
      const { headers } = $ref === undefined ? own : document.components.responses[$ref.split('/').at(-1)];
      return { name: `${operationId} ${status}`, status: Number(status), headers: Object.keys(headers) };
    }),
  );

/** A call of an operation, and the operation's name. */
type Asked = readonly [operationId: string, method: string, path: string, call?: Call];

const JSON_TYPE = { 'content-type': 'application/json' };

/** Each operation with the examples of its document. What creates comes first, what removes last. */
const OPERATIONS = Object.entries<any>(document.paths)
  .flatMap(([path, item]) =>
    Object.entries<any>(item).map(([method, { operationId, parameters = [], requestBody, responses }]) => {
      const isNamed = (wanted: string) => parameters.some(({ name }: any) => name === wanted);
      const pathWith = (id?: string) =>
        parameters.reduce(
          (filled: string, { name, example }: any) => filled.replace(`{${name}}`, id ?? example),
          `/v1${path}${isNamed('limit') ? '?limit=1' : ''}`,
        );
      const example = requestBody?.content['application/json'].example;
      const ask = (to = pathWith(), sent: unknown = example, headers: Call['headers'] = {}): Asked => {
        const idempotency = isNamed('Idempotency-Key') ? { 'idempotency-key': 'one' } : {};
        const call = { headers: { ...JSON_TYPE, ...idempotency, ...headers }, body: JSON.stringify(sent) };
        return [operationId, method.toUpperCase(), to, example ? call : {}];
      };
      return { method, ask, pathWith, example, statuses: Object.keys(responses) };
    }),
  )
  .sort((a, b) => ORDER.indexOf(a.method) - ORDER.indexOf(b.method));

/** Good calls of each operation: a create is repeated, for what a replay tells. */
const GOOD = OPERATIONS.flatMap(({ method, ask }) => (method === 'post' ? [ask(), ask()] : [ask()]));

/** Calls that are refused for what they are. */
const BAD = OPERATIONS.flatMap(({ ask, pathWith, example, statuses }) => {
  const refused: Readonly<Record<string, readonly Asked[]>> = {
    400: [example ? ask(undefined, []) : ask(pathWith().replace('limit=1', 'limit=0'))],
    404: [ask(pathWith('9007199254740993'))],
    413: [ask(undefined, { ...example, name: 'x'.repeat(70_000) })],
    415: [
      ask(undefined, example, { 'content-type': 'text/plain' }),
      ask(undefined, example, { 'content-encoding': 'gzip' }),
    ],
    422: [ask(undefined, otherThan(example))],
  };
  return statuses.flatMap((status) => refused[status] ?? []);
});

/** The example with another value of its first member. */
function otherThan(example: Readonly<Record<string, unknown>> = {}) {
  const [[name, value] = ['', '']] = Object.entries(example);
  return { ...example, [name]: typeof value === 'number' ? value + 1 : `${value}x` };
}

/** Nobody can ask for these: what is said of them is held against the refusal itself. */
const UNASKED: readonly ErrorCode[] = ['idempotency_conflict', 'internal_error'];

describe('the headers of the document', () => {
  const sent = new Map<string, Set<string>>();
  const note = async (gateway: CheckedGateway, calls: readonly Asked[], key = gateway.key) => {
    for (const [operationId, method, path, call] of calls) {
      const { status, headers } = await gateway.call(method, path, { ...call, key });
      const names = sent.get(`${operationId} ${status}`) ?? new Set();
      for (const name of DESCRIBED) if (headers.has(name)) names.add(name);
      sent.set(`${operationId} ${status}`, names);
    }
  };

  beforeAll(async () => {
    const most = GOOD.length + BAD.length + OPERATIONS.filter(({ method }) => method === 'post').length;
    const gateway = await startCheckedGateway(SQLITE, { RATE_LIMIT: `${most}/1h` });
    const [reader, last] = await Promise.all([
      gateway.keys.create({ name: 'reader', expiresAt: null, readOnly: true }),
      gateway.keys.create({ name: 'last', expiresAt: null }),
    ]);
    for (const { ask, method } of OPERATIONS) {
      const [, verb, path, call] = ask(undefined, undefined, { 'idempotency-key': 'zero' });
      if (method === 'post') await gateway.call(verb, path, call); // so that a page has a next one
    }
    await note(gateway, GOOD);
    await note(gateway, BAD);
    await note(gateway, GOOD); // beyond the limit
    await note(gateway, GOOD, 'nobody');
    await note(gateway, GOOD, reader.key);
    await gateway.call('GET', '/v1/pets', { key: last.key }); // known from here on, without a query
    await gateway.database.close();
    await note(gateway, GOOD, last.key);
    for (const code of UNASKED) {
      for (const { name, status } of RESPONSES.filter((one) => one.status === ERRORS[code].status)) {
        // What every refusal of the operation has after its key is known, and what this one has by itself.
        const [operationId] = name.split(' ');
        const common = [...(sent.get(`${operationId} 503`) ?? [])].filter((header) => header !== 'Retry-After');
        sent.set(`${operationId} ${status}`, new Set([...common, ...Object.keys(new ApiError(code, '').headers)]));
      }
    }
  });

  test.each(RESPONSES)('$name has each header that is described', ({ name, headers }) => {
    expect(headers.filter((header) => !sent.get(name)?.has(header))).toEqual([]);
  });

  test.each(RESPONSES)('$name has no other one of them', ({ name, headers }) => {
    expect([...(sent.get(name) ?? [])].filter((header) => !headers.includes(header))).toEqual([]);
  });
});
