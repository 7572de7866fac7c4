import { beforeAll, describe, expect, test } from 'vitest';
import { parseInt64 } from '../../src/lib/exact-json/exact-json.ts';
import { PET_STATUSES } from '../../src/petstore/pets/pet.ts';
import { describeEachEngine } from '../support/engines.ts';
import { gatewayOf } from '../support/gateway.ts';
import { number, postGraphql } from './exact-json.ts';

/** Thirty animals: each status in turn, and none. */
const STATUSES = [...PET_STATUSES, null];
const ANIMALS = 30;

describeEachEngine('reading animals', (engine) => {
  const gateway = gatewayOf(engine);
  let ids: string[];
  beforeAll(async () => {
    const categoryId = parseInt64('7') ?? expect.fail();
    await gateway.pets.addAll(
      Array.from({ length: ANIMALS }, (_, index) => ({
        name: `pet ${index}`,
        categoryId,
        status: STATUSES[index % STATUSES.length] ?? null,
      })),
    );
    ids = (await gateway.database.knex('pets').orderBy('id').pluck('id')).map(String);
  });
  const listIds = async (args: string): Promise<string[]> => {
    const { json } = await gateway.graphql(`{ pets${args} { id } }`);
    return json.data.pets.map(({ id }: { id: string }) => id);
  };

  describe('pets', () => {
    test('gives twenty by ascending id, each with all its fields', async () => {
      const { json } = await gateway.graphql('{ pets { __typename id name categoryId status } }');
      expect(json.data.pets).toEqual(
        ids.slice(0, 20).map((id, index) => ({
          __typename: 'Pet',
          id,
          name: `pet ${index}`,
          categoryId: '7',
          status: STATUSES[index % STATUSES.length]?.toUpperCase() ?? null,
        })),
      );
    });

    test.each([
      ['(status: null, after: null)', 0, 20],
      ['(after: 0, limit: 3)', 0, 3],
      ['(after: -9223372036854775808, limit: 3)', 0, 3],
      ['(after: "9223372036854775807")', 0, 0],
    ])('%s', async (args, from, to) => {
      expect(await listIds(args)).toEqual(ids.slice(from, to));
    });

    test('a variable may spell an integer in any way of JSON', async () => {
      const query = 'query ($n: Int!) { pets(limit: $n) { id } }';
      const { json } = await postGraphql(gateway, { query, variables: { n: number('1e1') } });
      expect(json.data.pets).toHaveLength(10);
    });

    test.each([
      ['limit: 101', 'limit must be an integer from 1 to 100'],
      ['after: 9223372036854775808', 'after must be a decimal integer of 64 bits, without leading zeros'],
    ])('(%s) is BAD_USER_INPUT and says what is allowed', async (args, message) => {
      const { json } = await gateway.graphql(`{ pets(${args}) { id } }`);
      const errors = [{ message, path: ['pets'], extensions: { code: 'BAD_USER_INPUT' } }];
      expect(json).toMatchObject({ data: null, errors });
    });
  });

  test('pet: one animal; null for an id that none has', async () => {
    const { json } = await gateway.graphql(
      `{ a: pet(id: ${ids[4]}) { id name } b: pet(id: "${ids[5]}") { id } none: pet(id: 0) { id } less: pet(id: -1) { id } }`,
    );
    expect(json).toEqual({ data: { a: { id: ids[4], name: 'pet 4' }, b: { id: ids[5] }, none: null, less: null } });
  });
});

describeEachEngine('animals with large ids', (engine) => {
  const IDS = ['9007199254740992', '9007199254740993', '9007199254740994', '9223372036854775807'];
  const gateway = gatewayOf(engine);
  beforeAll(async () => {
    const { knex } = gateway.database;
    for (const id of IDS) await knex('pets').insert({ id: knex.raw(id), name: id, category_id: knex.raw(`-${id}`) });
  });

  test.each(IDS)('%s is found as text, as a literal, as a number in variables', async (id) => {
    const expected = `{"data":{"pet":{"id":"${id}","name":"${id}","categoryId":"-${id}"}}}`;
    const fields = '{ id name categoryId }';
    const query = `query ($id: ID!) { pet(id: $id) ${fields} }`;
    expect((await gateway.graphql(query, { id })).text).toBe(expected);
    expect((await postGraphql(gateway, { query, variables: { id: number(id) } })).text).toBe(expected);
    expect((await gateway.graphql(`{ pet(id: ${id}) ${fields} }`)).text).toBe(expected);
  });

  test('after does not skip the neighbour that a double cannot tell apart', async () => {
    const query = 'query ($after: ID) { pets(after: $after) { id } }';
    const { json } = await postGraphql(gateway, { query, variables: { after: number('9007199254740992') } });
    expect(json.data.pets.map(({ id }: { id: string }) => id)).toEqual(IDS.slice(1));
  });
});
