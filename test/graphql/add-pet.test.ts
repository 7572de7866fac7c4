import { describe, expect, test } from 'vitest';
import { describeEachEngine } from '../support/engines.ts';
import { gatewayOf } from '../support/gateway.ts';
import { postGraphql } from './exact-json.ts';

const ADD = 'mutation ($input: NewPetInput!) { addPet(input: $input) { id name categoryId status } }';
const INT64 = '0 -1 9007199254740993 9223372036854775807 -9223372036854775808'.split(' ');

describeEachEngine('addPet', (engine) => {
  const gateway = gatewayOf(engine);
  const add = (input: object, headers?: Record<string, string>) =>
    postGraphql(gateway, { query: ADD, variables: { input } }, headers);
  const countPets = async () => Number((await gateway.database.knex('pets').count({ n: '*' }))[0]?.n);

  test.each(INT64)('categoryId %s as text and as a literal: digit for digit', async (id) => {
    const literal = `mutation { addPet(input: { name: "x", categoryId: ${id} }) { id categoryId } }`;
    for (const { json, text } of [await add({ name: 'x', categoryId: id }), await gateway.graphql(literal)]) {
      expect(text).toContain(`"categoryId":"${id}"`);
      const stored = await gateway.request(`/v1/pets/${json.data.addPet.id}`);
      expect(stored.text).toContain(`"categoryId":${id}}`);
    }
  });

  test.each([
    ['the word of REST', { name: 'x', categoryId: 1, status: 'sold' }],
    ['an unknown field', { name: 'x', categoryId: 1, colour: 'red' }],
    ['a list', [{ name: 'x', categoryId: 1 }, 5]],
  ])('%s is BAD_USER_INPUT, and nothing is added', async (_what, input) => {
    const before = await countPets();
    const { json } = await add(input);
    expect(json.errors[0].extensions).toEqual({ code: 'BAD_USER_INPUT' });
    expect(json.data ?? null).toBeNull();
    expect(await countPets()).toBe(before);
  });

  describe('with an Idempotency-Key', () => {
    const BOTH = 'mutation ($a: NewPetInput!) { addPet(input: $a) { id } second: addPet(input: $a) { id name } }';
    const addBoth = (name: string, key: string) =>
      gateway.graphql(BOTH, { a: { name, categoryId: 1 } }, { 'idempotency-key': key });

    test('a retry gets the first answer and says so; two addPet of a request are two', async () => {
      const first = await addBoth('twice', 'two');
      const before = await countPets();
      const again = await addBoth('twice', 'two');
      expect(again.text).toBe(first.text);
      expect(first.json.data.addPet.id).not.toBe(first.json.data.second.id);
      expect([first, again].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true']);
      expect(await countPets()).toBe(before);
    });

    test('a retry says so beside the error of another field, too', async () => {
      const text =
        'mutation { addPet(input: { name: "x", categoryId: 1 }) { id } wrong: addPet(input: { name: "x", categoryId: "y" }) { id } }';
      const addTwo = () => gateway.graphql(text, {}, { 'idempotency-key': 'half' });
      const [first, again] = [await addTwo(), await addTwo()];
      expect(again.json.errors).toHaveLength(1);
      expect([first, again].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true']);
    });

    test('another input under it is refused, and nothing is added', async () => {
      await add({ name: 'this', categoryId: 1 }, { 'idempotency-key': 'spoilt' });
      const before = await countPets();
      const spoilt = await add({ name: 'that', categoryId: 1 }, { 'idempotency-key': 'spoilt' });
      expect(spoilt.json.errors[0]).toMatchObject({
        message: expect.stringContaining('Idempotency-Key'),
        extensions: { code: 'IDEMPOTENCY_MISMATCH' },
      });
      expect(await countPets()).toBe(before);
    });

    test('what is no key is refused', async () => {
      const before = await countPets();
      const { json } = await add({ name: 'x', categoryId: 1 }, { 'idempotency-key': 'a b' });
      expect(json.errors[0].extensions.code).toBe('BAD_USER_INPUT');
      expect(await countPets()).toBe(before);
    });

    test('a query does not mind it', async () => {
      const { json } = await gateway.graphql('{ pets(limit: 1) { id } }', {}, { 'idempotency-key': 'a b' });
      expect(json.errors).toBeUndefined();
    });
  });
});
