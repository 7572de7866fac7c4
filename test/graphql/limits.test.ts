import { getIntrospectionQuery, type IntrospectionOptions } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { limitsByType } from '../../src/gateway/graphql/cost.ts';
import { SQLITE } from '../support/engines.ts';
import { gatewayOf } from '../support/gateway.ts';
import { served } from '../support/load.ts';
import { postGraphql } from './exact-json.ts';
import { schema } from './schema-alone.ts';
import { countPetStatements } from './statements.ts';

/** How many leaves of animals one request may ask for. */
const VALUES_MOST = [...limitsByType(schema)].find(([{ name }]) => name === 'Pet')?.[1].maxLeaves ?? 0;

const repeat = (count: number, write: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => write(index)).join(' ');
const pets = (count: number, limit: string): string => repeat(count, (n) => `p${n}: pets(limit: ${limit}) { id }`);

/** An introspection of `levels` nested fields, the last half of them in a fragment. */
const nested = (levels: number): string => {
  const inFragment = levels - 8;
  return `{ __schema { types { ${'ofType { '.repeat(5)}...Rest${' }'.repeat(5)} } } }
    fragment Rest on __Type { ${'ofType { '.repeat(inFragment)}name${' }'.repeat(inFragment)} }`;
};

const adds = (count: number): string =>
  `mutation { ${repeat(count, (n) => `a${n}: addPet(input: { name: "x", categoryId: 1 }) { id }`)} }`;

/** A list in the innermost of fragments each of which spreads the next one twice. */
const doubling = (depth: number): string =>
  `{ ...F0 } ${repeat(depth, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`)} fragment F${depth} on Query { pets(limit: 0) { id } }`;

type Case = string | readonly [query: string, variables: Record<string, unknown>];

const ALLOWED: Record<string, Case> = {
  '30 aliases': `{ ${repeat(30, (n) => `a${n}: pet(id: 1) { id }`)} }`,
  '1000 tokens': `{ ${repeat(249, () => 'pets { id }')} __typename __typename }`,
  '500 animals': `{ ${pets(5, '100')} }`,
  '500 animals by a variable': [`query ($n: Int!) { ${pets(5, '$n')} }`, { n: 100 }],
  'an operation of 500 animals beside another': `query A { ${pets(5, '100')} } query B { ${repeat(3, () => 'pets(limit: 100) { id }')} }`,
  'five lists of a hundred with all fields of an animal': `{ ${repeat(5, (n) => `p${n}: pets(limit: 100) { ...F }`)} } fragment F on Pet { id name categoryId status }`,
  '600 animals, a hundred of which a condition leaves out': [
    `query ($no: Boolean!) { ${pets(5, '100')} more: pets(limit: 100) @include(if: $no) { id } }`,
    { no: false },
  ],
  'one list that is written ten times': `{ ${repeat(10, () => 'pets(limit: 100) { id }')} }`,
  'a leaf that is written 700 times': `{ pets { ${repeat(700, () => 'id')} } }`,
  'one list that is spread ten times': `{ ${repeat(10, () => '...F')} } fragment F on Query { ${pets(5, '100')} }`,
};

const REFUSED: Record<string, Record<string, Case>> = {
  MAX_ALIASES_EXCEEDED: {
    '31 aliases': `{ ${repeat(31, (n) => `a${n}: pet(id: 1) { id }`)} }`,
    '31 aliases, some in a fragment': `{ ${repeat(16, (n) => `a${n}: pet(id: 1) { ...F }`)} } fragment F on Pet { ${repeat(15, (n) => `b${n}: id`)} }`,
    '31 aliases of leaves': `{ pets { ${repeat(31, (n) => `a${n}: id`)} } }`,
    'an alias below __schema': '{ __schema { types { name } all: types { name } } }',
    'an alias of a leaf below __type': '{ __type(name: "Pet") { called: name } }',
    'an alias in a fragment of introspection':
      '{ __schema { types { ...F } } } fragment F on __Type { fields { name } more: fields { name } }',
    'the schema under two names': '{ __schema { queryType { name } } again: __schema { queryType { name } } }',
    '31 aliases in an operation that is not run': `query A { pets { id } } query B { ${repeat(31, (n) => `a${n}: pet(id: 1) { id }`)} }`,
  },
  MAX_TOKENS_EXCEEDED: {
    '1001 tokens': `{ ${repeat(249, () => 'pets { id }')} __typename __typename __typename }`,
    '30,000 levels that are never closed': '{a'.repeat(30_000),
  },
  MAX_DOCUMENT_BYTES_EXCEEDED: {
    'a document of 64 KiB and a byte': `{ pets { id } } #${'é'.repeat(32_760)}`,
  },
  MAX_COST_EXCEEDED: {
    'a leaf that is written 800 times': `{ pets { ${repeat(800, () => 'id')} } }`,
    'a leaf that is written 800 times, in fragments': `{ pets { ...A ...B } } fragment A on Pet { ${repeat(400, () => 'id')} } fragment B on Pet { ${repeat(400, () => 'id')} }`,
    '501 animals': `{ ${pets(5, '100')} pet(id: 1) { id } }`,
    '520 animals, a list without a limit among them': `{ ${pets(5, '100')} pets { id } }`,
    '600 animals by a variable': [`query ($n: Int!) { ${pets(6, '$n')} }`, { n: 100 }],
    '600 animals by a default': `query ($n: Int! = 100) { ${pets(6, '$n')} }`,
    '600 animals beside introspection, which graphql-js runs': `{ __schema { queryType { name } } ${pets(6, '100')} }`,
    '600 animals that a condition lets in': [
      `query ($yes: Boolean!) { ${pets(5, '100')} more: pets(limit: 100) @include(if: $yes) { id } }`,
      { yes: true },
    ],
    'a hundred names, thirty times each, beside the rest': `{ pets(limit: 100) { id categoryId status ${repeat(30, (n) => `n${n}: name`)} } }`,
    'a hundred names, each more often than the limit allows, spread in two lists': `{ a: pets(limit: 100) { ...F } b: pets(limit: 100) { ...F } } fragment F on Pet { ${repeat(VALUES_MOST / 200 + 1, (n) => `n${n}: name`)} }`,
    '600 animals in a fragment': `{ ...F } fragment F on Query { ${pets(6, '100')} }`,
    '600 animals in fragments of fragments': `{ ... { ...F } } fragment F on Query { ${pets(3, '100')} ...G } fragment G on Query { ... on Query { q: pets(limit: 100) { id } r: pets(limit: 100) { id } s: pets(limit: 100) { id } } }`,
  },
  MAX_DEPTH_EXCEEDED: {
    '17 levels, in fragments too': nested(17),
    '17 levels by a fragment that stands further up, too': `{ __schema { types { ...F ${'ofType { '.repeat(8)}...F${' }'.repeat(8)} } } }
        fragment F on __Type { ${'ofType { '.repeat(6)}name${' }'.repeat(6)} }`,
    '17 levels in a fragment that spreads itself': `{ __schema { types { ...F } } } fragment F on __Type { ${'ofType { '.repeat(15)}...F${' }'.repeat(15)} }`,
  },
  GRAPHQL_VALIDATION_FAILED: {
    'a fragment that spreads itself': '{ ...F } fragment F on Query { pets { id } ...F }',
    'fragments that spread each other': '{ pets { ...A } } fragment A on Pet { id ...B } fragment B on Pet { ...A }',
  },
};

describe('limits', () => {
  const gateway = gatewayOf(SQLITE, { BODY_LIMIT: '131072' });
  let countStatements: () => number;
  beforeAll(async () => {
    countStatements = countPetStatements(gateway);
  });
  const ask = (request: Case) => {
    const [query, variables = {}] = typeof request === 'string' ? [request] : request;
    const operationName = query.startsWith('query A') ? 'A' : undefined;
    return postGraphql(gateway, { query, variables, operationName });
  };

  test.each(Object.entries(ALLOWED))('%s: answered', async (_what, request) => {
    const before = countStatements();
    const { json } = await ask(request);
    expect(json.errors).toBeUndefined();
    expect(countStatements()).toBeGreaterThan(before);
  });

  test('thirty animals are added by one request, thirty-one are not', async () => {
    // They have the time of one request together, which a machine that is held up does not give.
    const { json } = await served(() => ask(adds(30)));
    expect(json.data.a29.id).toMatch(/^\d+$/);
    expect((await ask(adds(31))).json.errors[0].extensions.code).toBe('MAX_ALIASES_EXCEEDED');
  });

  describe.each(Object.entries(REFUSED))('%s, before any SQL', (code, cases) => {
    test.each(Object.entries(cases))('%s', async (_what, request) => {
      const before = countStatements();
      const { status, json } = await ask(request);
      expect(json.errors.map((error: any) => error.extensions.code)).toContain(code);
      expect(json.data ?? null).toBeNull();
      expect(countStatements()).toBe(before);
      // GraphQL over HTTP: well-formed HTTP is 200 as application/json
      expect(status).toBe(200);
    });
  });

  test('16 levels pass', async () => {
    expect((await ask(nested(16))).json.errors).toBeUndefined();
  });

  // Walking every way through fragments that spread each other twice would take 2 to the power of their number.
  test.each(['the first time', 'repeated'])('a fragment counts once, however often it is spread, %s', async () => {
    const { json } = await ask(doubling(4));
    expect(json.errors[0].locations).toHaveLength(1);
  });

  test.each([
    [
      '__type',
      '{ field: __type(name: "__Field") { fields { name } } type: __type(name: "__Type") { fields { name } } }',
    ], // gql.tada's
    ['__schema, once', '{ schema: __schema { queryType { name } } }'],
  ])('aliases of %s pass', async (_what, query) => {
    expect((await ask(query)).json.errors).toBeUndefined();
  });

  test.each<IntrospectionOptions>([
    {},
    { descriptions: false },
    { schemaDescription: true, inputValueDeprecation: true },
    {
      descriptions: true,
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      schemaDescription: true,
      inputValueDeprecation: true,
      oneOf: true,
    },
  ])('the introspection query of explorers and tools passes: %j', async (options) => {
    const { json } = await ask(getIntrospectionQuery(options));
    expect(json.errors).toBeUndefined();
    expect(json.data.__schema.queryType.name).toBe('Query');
  });
});
