import { beforeAll, describe, expect, test } from 'vitest';
import { ApiError, ERRORS, type ErrorCode } from '../../src/gateway/errors.ts';
import { SQLITE } from '../support/engines.ts';
import { openApiDocument } from '../support/petstore-api.ts';
import { type Call, type CheckedGateway, startCheckedGateway } from './checked-gateway.ts';

const document = openApiDocument('http://petstore.example') as any;
const DESCRIBED = Object.keys(document.components.headers);

/** A response of the document with what it says of headers, by the name of its operation and its status. */
const RESPONSES = Object.values<any>(document.paths)
  .flatMap((item) => Object.values<any>(item))
  .flatMap(({ operationId, responses }) =>
    Object.entries<any>(responses).map(([status, { $ref, ...own }]) => {
      const { headers } = $ref === undefined ? own : document.components.responses[$ref.split('/').at(-1)];
      return { name: `${operationId} ${status}`, status: Number(status), headers: Object.keys(headers) };
    }),
  );

const json = { 'content-type': 'application/json' };
const PET = '{"name":"Rex","categoryId":1}';
const create = (body: string, headers: Call['headers'] = {}): Call => ({ headers: { ...json, ...headers }, body });
const retried = { 'idempotency-key': 'one' };

/** One call of each operation that is a good one, and as often as needed for all that its answer may tell. */
const GOOD: readonly (readonly [operationId: string, method: string, path: string, call?: Call])[] = [
  ['createPet', 'POST', '/v1/pets', create(PET, retried)],
  ['createPet', 'POST', '/v1/pets', create(PET, retried)],
  ['listPets', 'GET', '/v1/pets?limit=1'],
  ['getPet', 'GET', '/v1/pets/1'],
];

/** Calls that are refused for what they are. */
const BAD: typeof GOOD = [
  ['listPets', 'GET', '/v1/pets?limit=0'],
  ['getPet', 'GET', '/v1/pets/99'],
  ['createPet', 'POST', '/v1/pets', create('{}')],
  ['createPet', 'POST', '/v1/pets', create('{"name":"Tom","categoryId":1}', retried)],
  ['createPet', 'POST', '/v1/pets', create(`{"name":"${'x'.repeat(70_000)}"}`)],
  ['createPet', 'POST', '/v1/pets', { body: PET, headers: { 'content-type': 'text/plain' } }],
  ['createPet', 'POST', '/v1/pets', create(PET, { 'content-encoding': 'gzip' })],
];

/** Nobody can ask for these: what is said of them is held against the refusal itself. */
const UNASKED: readonly ErrorCode[] = ['idempotency_conflict', 'internal_error'];

describe('the headers of the document', () => {
  const sent = new Map<string, Set<string>>();
  const note = async (gateway: CheckedGateway, calls: typeof GOOD, key = gateway.key) => {
    for (const [operationId, method, path, call] of calls) {
      const { status, headers } = await gateway.call(method, path, { ...call, key });
      const names = sent.get(`${operationId} ${status}`) ?? new Set();
      for (const name of DESCRIBED) if (headers.has(name)) names.add(name);
      sent.set(`${operationId} ${status}`, names);
    }
  };

  beforeAll(async () => {
    const most = GOOD.length + BAD.length + 1;
    const gateway = await startCheckedGateway(SQLITE, { RATE_LIMIT: `${most}/1h` });
    const [reader, last] = await Promise.all([
      gateway.keys.create({ name: 'reader', expiresAt: null, readOnly: true }),
      gateway.keys.create({ name: 'last', expiresAt: null }),
    ]);
    await gateway.call('POST', '/v1/pets', create(PET));
    await note(gateway, GOOD);
    await note(gateway, BAD);
    await note(gateway, GOOD); // beyond the limit
    await note(gateway, GOOD, 'nobody');
    await note(gateway, GOOD.slice(0, 1), reader.key);
    await gateway.call('GET', '/v1/pets', { key: last.key }); // known from here on, without a query
    await gateway.database.close();
    await note(gateway, GOOD, last.key);
    for (const code of UNASKED) {
      const own = new Set(['X-Request-Id', ...Object.keys(new ApiError(code, '').headers)]);
      for (const { name, status } of RESPONSES) if (status === ERRORS[code].status) sent.set(name, own);
    }
  });

  test.each(RESPONSES)('$name has each header that is described', ({ name, headers }) => {
    expect(headers.filter((header) => !sent.get(name)?.has(header))).toEqual([]);
  });

  describe('of what succeeds', () => {
    test.each(RESPONSES.filter(({ status }) => status < 400))('$name: no other one of them', ({ name, headers }) => {
      expect([...(sent.get(name) ?? [])].sort()).toEqual(headers.toSorted());
    });
  });
});
