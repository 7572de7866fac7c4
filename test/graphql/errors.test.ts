import { beforeAll, describe, expect, test } from 'vitest';
import { describeEachEngine, SQLITE } from '../support/engines.ts';
import { gatewayOf, startGateway } from '../support/gateway.ts';
import { number, postGraphql } from './exact-json.ts';

const LIST = 'query ($status: PetStatus, $limit: Int!) { pets(status: $status, limit: $limit) { id } }';

/** What is wrong before anything runs: the request as it is, refused as a whole; a query, with variables or without. */
const REFUSED: Record<string, Record<string, string | readonly [query: string, variables: object]>> = {
  GRAPHQL_PARSE_FAILED: {
    'no text at all': '',
    'words of the parser': '{ "Syntax Error: Document contains more. Parsing aborted." }',
    'a brace that is not closed': '{ pets {',
    'a selection of nothing': '{ pets {} }',
    'an operation of nothing': 'query {}',
    'a lone surrogate in a string': 'mutation { addPet(input: { name: "\ud800", categoryId: 1 }) { id } }',
    'a lone surrogate, escaped': 'mutation { addPet(input: { name: "\\ud800", categoryId: 1 }) { id } }',
    'a lone surrogate in a comment': '{ pets { id } } # \udfff',
  },
  GRAPHQL_VALIDATION_FAILED: {
    'an unknown field': '{ petz { id } }',
    '400 unknown fields': `{ ${Array.from({ length: 400 }, (_, n) => `x${n}`).join(' ')} }`,
    'a limit of null in the text': '{ pets(limit: null) { id } }',
    'a subscription': 'subscription { pets { id } }',
  },
  BAD_USER_INPUT: {
    'an unknown status in a variable': [LIST, { limit: 1, status: 'sold' }],
    'a limit with a fraction': [LIST, { limit: 1.5 }],
    'a limit beyond 32 bits': [LIST, { limit: number('9007199254740993') }],
    'a limit that is not quite 1': [LIST, { limit: number('1.00000000000000000001') }],
  },
};

const LIMITED = 'query ($value: Int!) { pets(limit: $value) { id } }';
const ONE = 'query ($value: ID!) { pet(id: $value) { id } }';
const ADD = 'mutation ($value: NewPetInput!) { addPet(input: $value) { id } }';
/** Numbers that no variable takes, as they are sent, each with what the message says before it. */
const QUOTED: readonly [sent: string, before: string, query: string][] = [
  ['1.00000000000000000001', 'Int cannot represent non-integer value: ', LIMITED],
  ['1e-999', 'ID cannot represent value: ', ONE],
  [`1${'0'.repeat(30)}`, 'ID cannot represent value: ', ONE],
  ['1e400', 'not to include unknown field "toJSON", found: ', ADD],
];

/** The members that GraphQL allows to an error, §7.1.2: nothing of ours beside them. */
const MEMBERS = ['message', 'locations', 'path', 'extensions'];

describeEachEngine('errors', (engine) => {
  const gateway = gatewayOf(engine);
  beforeAll(async () => {
    await gateway.createPet({ name: 'x', categoryId: 1 });
  });

  const refused = Object.entries(REFUSED).flatMap(([code, requests]) =>
    Object.entries(requests).map(([what, request]) => ({ what, code, request })),
  );
  test.each(refused)('$what: $code', async ({ code, request }) => {
    const [query, variables = {}] = typeof request === 'string' ? [request] : request;
    const asJson = await postGraphql(gateway, { query, variables });
    expect([asJson.status, Object.keys(asJson.json)]).toEqual([200, ['errors']]);
    for (const error of asJson.json.errors) {
      expect(error).toMatchObject({ message: expect.stringMatching(/./), extensions: { code } });
      expect(Object.keys(error.extensions)).toEqual(['code']);
      expect(MEMBERS).toEqual(expect.arrayContaining(Object.keys(error)));
    }
    const accept = 'application/graphql-response+json';
    const asResponse = await postGraphql(gateway, { query, variables }, { accept });
    expect([asResponse.status, asResponse.text]).toEqual([400, asJson.text]);
  });

  test('an object of a long document that lacks its variables is not taken for another one', async () => {
    const query = `query ($x: Int) { pets(limit: { a: $x, b: 1 }) { id } }${'#'.repeat(20_000)}`;
    const { json } = await postGraphql(gateway, { query });
    expect(json.errors).toMatchObject([{ message: 'Int cannot represent non-integer value: { b: 1 }' }]);
  });

  test.each([
    ['{ pets(limit: "x") { id } }', 'Argument "limit": Int cannot represent non-integer value: "x"'],
    ['{ pets(limit: null) { id } }', 'Argument "limit": Expected value of non-null type "Int!" not to be null.'],
    [
      'mutation { addPet(input: { name: 5, categoryId: [1] }) { id } }',
      'Field "name": String cannot represent a non string value: 5',
      'Field "categoryId": ID cannot represent a non-string and non-integer value: [1]',
    ],
    ['query ($n: Int = "x") { pets(limit: $n) { id } }', 'Variable "$n": Int cannot represent non-integer value: "x"'],
    ['{ pets(limit: { a: 1 }) { id } }', 'Argument "limit": Int cannot represent non-integer value: { a: 1 }'],
    ['{ pets(limit: "\u202ex") { id } }', 'Argument "limit": Int cannot represent non-integer value: "\ufffdx"'],
  ])('a value in the text, %s, has a message that says what it is of', async (query, ...messages) => {
    for (const text of [query, query + '#'.repeat(20_000)]) {
      const { json } = await postGraphql(gateway, { query: text }); // the errors of a long one have no locations
      expect(json.errors.map(({ message }: { message: string }) => message)).toEqual(messages);
    }
  });

  // GraphQL §6.4.4: it is an error of the execution, so there is data: https://spec.graphql.org/draft/#sec-Handling-Execution-Errors
  test.each([
    ['a root field', 'query ($value: Boolean = true) { pets @skip(if: $value) { id } }'],
    ['a leaf', 'query ($value: Boolean = true) { pets { id @include(if: $value) } }'],
  ])('a condition of null on %s fails the object around it', async (_what, query) => {
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      const { status, json } = await postGraphql(gateway, { query, variables: { value: null } }, { accept });
      expect([status, json.data]).toEqual([200, null]);
      expect(json.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    }
  });

  test.each(QUOTED)('%s is quoted as it was sent: %s', async (sent, before, query) => {
    const { json } = await postGraphql(gateway, { query, variables: { value: number(sent) } });
    expect(json.errors.map(({ message }: Error) => message)).toContainEqual(expect.stringContaining(before + sent));
  });

  test('a field that is refused leaves the others: the message names the argument', async () => {
    const query = '{ good: pet(id: 1) { name } bad: pet(id: "x") { name } }';
    const { json } = await gateway.graphql(query, {}, { accept: 'application/graphql-response+json' });
    expect(json.data).toEqual({ good: { name: 'x' }, bad: null });
    expect(json.errors).toEqual([
      {
        message: 'id must be a decimal integer of 64 bits, without leading zeros',
        locations: [{ line: 1, column: 29 }],
        path: ['bad'],
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ]);
  });
});

/** The same fault in a document of each form. */
const WAYS = [
  ['one field', '{ pets { id name } }'],
  ['two fields', '{ pets { id name } pet(id: 1) { id } }'],
  ['a mutation', 'mutation { addPet(input: { name: "secret", categoryId: 1 }) { id } }'],
] as const;

describe('faults of ours', () => {
  const broken = gatewayOf(SQLITE);
  beforeAll(async () => {
    for (const [, query] of WAYS) await broken.graphql(query);
    // What operations do to a database is no fault of ours: this is one that no driver has a number for.
    const fail = async () => {
      throw new TypeError('Cannot read properties of undefined, SELECT FROM pets_gone, store.ts:1');
    };
    const { client } = broken.database.knex;
    const query = client.queryPrepared.bind(client);
    const queryPrepared = (sql: string, ...rest: unknown[]) => (/api_keys/.test(sql) ? query(sql, ...rest) : fail());
    Object.assign(client, { queryPrepared, insertPrepared: fail }); // the key is looked up again after some seconds
  });

  test.each(WAYS)('%s shows nothing internal, and the log has the cause under the request id', async (_what, query) => {
    const { status, headers, json, text } = await broken.graphql(query);
    expect(status).toBe(200);
    for (const error of json.errors) {
      expect(error.message).toBe('An internal error occurred.');
      expect(error.extensions).toEqual({ code: 'INTERNAL_SERVER_ERROR' });
    }
    expect(text).not.toMatch(/pets_gone|select|insert|table|sqlite|mysql|stack|\.ts|secret/i);
    const lines = broken.logs.filter(({ requestId }) => requestId === headers.get('x-request-id'));
    expect(lines.find(({ level }) => level === 50)).toMatchObject({
      err: { type: 'TypeError', message: expect.stringContaining('Cannot read properties') },
    });
    expect(JSON.stringify(lines)).not.toContain('secret');
  });
});

describeEachEngine('a database that is closed', (engine) => {
  const gateway = gatewayOf(engine);
  beforeAll(async () => {
    for (const [, query] of WAYS) await gateway.graphql(query);
    await gateway.database.close();
  });

  test.each(WAYS)(
    '%s: SERVICE_UNAVAILABLE with Retry-After, the cause in the log under the request id',
    async (_what, query) => {
      const { headers, json } = await gateway.graphql(query);
      expect(json.errors[0]).toMatchObject({
        message: 'The service is temporarily unavailable; try again shortly.',
        extensions: { code: 'SERVICE_UNAVAILABLE' },
      });
      expect(headers.get('retry-after')).toBe('1');
      const requestId = headers.get('x-request-id');
      expect(gateway.logs.find((line) => line.level === 50 && line.requestId === requestId)).toHaveProperty(
        'err.message',
      );
    },
  );

  test('what needs no database is answered as ever', async () => {
    const own = await startGateway(engine); // a key is remembered for some seconds only
    await own.graphql('{ pets { id } }');
    await own.database.close();
    expect((await own.graphql('{ __typename }')).json).toEqual({ data: { __typename: 'Query' } });
    expect((await own.graphql('{ pets(limit: 0) { id } }')).json.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });
});
