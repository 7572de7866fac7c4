import { beforeAll, describe, expect, test } from 'vitest';
import { parseInt64 } from '../../src/lib/exact-json/exact-json.ts';
import { PET_STATUSES } from '../../src/petstore/pets/pet.ts';
import { describeEachEngine } from '../support/engines.ts';
import { gatewayOf } from '../support/gateway.ts';
import { countPetStatements } from './statements.ts';

const ANIMALS = 23;
const LAST_ID = '9223372036854775807';
const PAGE =
  '{ edges { cursor node { id name categoryId status } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }';

const encode = (text: string) => Buffer.from(text).toString('base64url');

// https://relay.dev/graphql/connections.htm
describeEachEngine('petsConnection', (engine) => {
  const gateway = gatewayOf(engine);
  let query: (document: string, variables?: object) => Promise<any>;
  beforeAll(async () => {
    const categoryId = parseInt64('9007199254740993') ?? expect.fail();
    const statuses = [...PET_STATUSES, null];
    const animals = Array.from({ length: ANIMALS }, (_, index) => ({
      name: `pet ${index}`,
      categoryId,
      status: statuses[index % statuses.length] ?? null,
    }));
    await gateway.pets.addAll(animals);
    const { knex } = gateway.database;
    await knex('pets').insert({ id: knex.raw(LAST_ID), name: 'the last one', category_id: 1 });
    query = async (document, variables) => {
      const { json } = await gateway.graphql(document, variables as Record<string, unknown>);
      expect(json).toEqual({ data: expect.anything() });
      return json.data;
    };
  });

  test.each([undefined, ...PET_STATUSES.map((status) => status.toUpperCase())])(
    'endCursor walks through the animals of `pets` until hasNextPage is false (status %s)',
    async (status) => {
      const fields = '{ id name categoryId status }';
      const list = `query ($status: PetStatus) { pets(status: $status, limit: 100) ${fields} }`;
      const walked: unknown[] = [];
      const connection = `query ($status: PetStatus, $after: String) {
        petsConnection(status: $status, first: 5, after: $after) ${PAGE}
      }`;
      for (let after: string | null = null, isFirst = true, goesOn = true; goesOn; isFirst = false) {
        const { edges, pageInfo }: any = (await query(connection, { status, after })).petsConnection;
        const cursors = edges.map(({ cursor }: { cursor: string }) => cursor);
        expect(pageInfo).toEqual({
          hasNextPage: edges.length === 5 && expect.any(Boolean),
          hasPreviousPage: !isFirst,
          startCursor: cursors[0],
          endCursor: cursors.at(-1),
        });
        walked.push(...edges.map(({ node }: { node: unknown }) => node));
        after = pageInfo.endCursor;
        goesOn = pageInfo.hasNextPage;
      }
      expect(walked).toEqual((await query(list, { status })).pets);
      expect(walked.length).toBeGreaterThan(4);
    },
  );

  test('any cursor of a page goes on after its animal', async () => {
    const all = (await query(`{ petsConnection(first: 100) ${PAGE} }`)).petsConnection.edges;
    expect(all).toHaveLength(ANIMALS + 1);
    for (const [index, { cursor }] of all.entries()) {
      const document = 'query ($after: String) { petsConnection(first: 2, after: $after) { edges { cursor } } }';
      const { edges } = (await query(document, { after: cursor })).petsConnection;
      expect(edges).toEqual(
        all.slice(index + 1, index + 3).map((edge: { cursor: string }) => ({ cursor: edge.cursor })),
      );
    }
  });

  test('twenty animals without arguments; an empty page has no cursors', async () => {
    const { all, none } = await query(
      `{ all: petsConnection { edges { node { id } } } none: petsConnection(after: "${encode(`id:${LAST_ID}`)}") ${PAGE} }`,
    );
    expect(all.edges).toHaveLength(20);
    expect(none).toEqual({
      edges: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: true, startCursor: null, endCursor: null },
    });
  });

  test('the empty cursor, with which Relay begins, and null ask for the first page', async () => {
    const document = `query ($after: String) { petsConnection(first: 3, after: $after) ${PAGE} }`;
    const first = await query(document);
    expect(first.petsConnection.edges).toHaveLength(3);
    expect(first.petsConnection.pageInfo.hasPreviousPage).toBe(false);
    for (const after of ['', null]) expect(await query(document, { after })).toEqual(first);
  });

  test('a page that ends with the last animal has no next one', async () => {
    const { whole, less } = await query(
      `{ whole: petsConnection(first: ${ANIMALS + 1}) ${PAGE} less: petsConnection(first: ${ANIMALS}) ${PAGE} }`,
    );
    expect([whole.pageInfo.hasNextPage, less.pageInfo.hasNextPage]).toEqual([false, true]);
  });

  test('one statement serves the same page of both', async () => {
    const statements = countPetStatements(gateway);
    const { pets, petsConnection } = await query(
      '{ pets(limit: 7) { id } petsConnection(first: 7) { edges { node { id } } } }',
    );
    expect(petsConnection.edges.map(({ node }: { node: unknown }) => node)).toEqual(pets);
    expect(statements()).toBe(1);
  });

  describe('BAD_USER_INPUT', () => {
    test.each([
      '1',
      'x',
      encode('1'),
      encode('id:'),
      encode('id:01'),
      encode('id: 1'),
      encode('id:1\n'),
      encode('id:9223372036854775808'),
      Buffer.from('id:1234').toString('base64'), // with padding
      ` ${encode('id:1')}`,
      encode('id:1').slice(0, -1),
      'x'.repeat(20_000),
    ])('after "%.30s" is none of our cursors', async (after) => {
      const { status, json } = await gateway.graphql(
        'query ($after: String) { petsConnection(after: $after) { edges { cursor } } }',
        { after },
      );
      const message = 'after must be a cursor of an earlier page, as it was given';
      expect([status, json]).toEqual([
        200,
        { data: null, errors: [expect.objectContaining({ message, path: ['petsConnection'] })] },
      ]);
      expect(json.errors[0].extensions).toEqual({ code: 'BAD_USER_INPUT' });
    });

    test.each([0, 101, -1])('first %i', async (first) => {
      const { json } = await gateway.graphql(`{ petsConnection(first: ${first}) { edges { cursor } } }`);
      expect(json.errors).toEqual([
        expect.objectContaining({
          message: 'first must be an integer from 1 to 100',
          extensions: { code: 'BAD_USER_INPUT' },
        }),
      ]);
    });
  });

  test.each<[count: number, refusal: string | undefined]>([
    [5, undefined],
    [6, 'The request may touch 600 animals; the limit is 500.'],
  ])('%i largest pages with all their fields weigh as those of `pets`', async (count, refusal) => {
    // As Apollo Client and urql send it.
    const page = PAGE.replaceAll('{', '{ __typename');
    const pages = Array.from({ length: count }, (_, n) => `p${n}: petsConnection(first: 100) ${page}`);
    const { json } = await gateway.graphql(`{ ${pages.join(' ')} }`);
    expect(json.errors?.[0].message).toBe(refusal);
    expect(json.errors?.[0].extensions.code).toBe(refusal && 'MAX_COST_EXCEEDED');
  });
});
