import { beforeAll, describe, expect, test } from 'vitest';
import { describeEachEngine } from '../support/engines.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { number, postGraphql } from './exact-json.ts';

const ADD = 'mutation ($input: NewPetInput!) { addPet(input: $input) { id name categoryId status } }';
const INT64 = [
  '0',
  '1',
  '-1',
  '2147483648',
  '9007199254740991',
  '9007199254740992',
  '9007199254740993',
  '-9007199254740993',
  '9223372036854775807',
  '-9223372036854775808',
];

describeEachEngine('addPet', (engine) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(engine);
  });
  const add = (input: object, headers?: Record<string, string>) =>
    postGraphql(gateway, { query: ADD, variables: { input } }, headers);
  const countPets = async () => Number((await gateway.database.knex('pets').count({ n: '*' }))[0]?.n);

  test.each(INT64)('categoryId %s as text, as a literal, as a number in variables: digit for digit', async (id) => {
    const literal = `mutation { addPet(input: { name: "x", categoryId: ${id} }) { id categoryId } }`;
    const answers = [
      await add({ name: 'x', categoryId: id }),
      await add({ name: 'x', categoryId: number(id) }),
      await gateway.graphql(literal),
    ];
    for (const { json, text } of answers) {
      expect(text).toContain(`"categoryId":"${id}"`);
      const stored = await gateway.request(`/v1/pets/${json.data.addPet.id}`);
      expect(stored.text).toContain(`"categoryId":${id}}`);
    }
  });

  test.each([
    ['1.0', '1'],
    ['1e2', '100'],
    ['-0', '0'],
    ['9007199254740993.0', '9007199254740993'],
    ['9e18', '9000000000000000000'],
  ])('categoryId %s in variables is the integer %s', async (spelling, id) => {
    expect((await add({ name: 'x', categoryId: number(spelling) })).json.data.addPet.categoryId).toBe(id);
  });

  describe('is BAD_USER_INPUT, and nothing is added', () => {
    test.each<[what: string, input: object]>([
      ...['9223372036854775808', '-9223372036854775809', '1.5', '1e400', '9223372036854775807.5', '1e19'].map(
        (spelling): [string, object] => [`categoryId ${spelling}`, { name: 'x', categoryId: number(spelling) }],
      ),
      ...['', 'x', '01', '+1', ' 1', '-0', '1.0', '1e2', '0x1', '١', '9223372036854775808'].map(
        (text): [string, object] => [`categoryId "${text}"`, { name: 'x', categoryId: text }],
      ),
      ...[true, null, [], ['1'], {}].map((value): [string, object] => [
        `categoryId ${JSON.stringify(value)}`,
        { name: 'x', categoryId: value },
      ]),
      ...[5, true, null, ['x'], {}].map((name): [string, object] => [
        `name ${JSON.stringify(name)}`,
        { name, categoryId: 1 },
      ]),
      ...['sold', 'GONE', '', 1, true, {}].map((status): [string, object] => [
        `status ${JSON.stringify(status)}`,
        { name: 'x', categoryId: 1, status },
      ]),
      ['a lone surrogate', { name: 'a\ud800b', categoryId: 1 }],
      ['half a pair, the second', { name: '\udc00', categoryId: 1 }],
      ['no name', { categoryId: 1 }],
      ['no categoryId', { name: 'x' }],
      ['an unknown field', { name: 'x', categoryId: 1, colour: 'red' }],
      ['a list', [{ name: 'x', categoryId: 1 }, 5]],
    ])('%s', async (_what, input) => {
      const before = await countPets();
      const { json } = await add(input);
      expect(json.errors[0].extensions).toEqual({ code: 'BAD_USER_INPUT' });
      expect(json.data ?? null).toBeNull();
      expect(await countPets()).toBe(before);
    });
  });

  test.each([
    '',
    'Zoé 🐕 \u0000 "\\" \u2028 </script>',
    'e\u0301 and \u00e9 differ',
    ' blanks ',
    `long ${'🐢'.repeat(15_000)}`,
  ])('the name is kept byte for byte: %j', async (name) => {
    const { json } = await add({ name, categoryId: 1 });
    expect(json.data.addPet.name).toBe(name);
    const { json: read } = await gateway.graphql('query ($id: ID!) { pet(id: $id) { name } }', json.data.addPet);
    expect(read.data.pet.name).toBe(name);
  });

  test.each([
    ['AVAILABLE', 'AVAILABLE'],
    ['PENDING', 'PENDING'],
    ['SOLD', 'SOLD'],
    [null, null],
    [undefined, null],
  ])('status %s is %s: none is made up, and null is as good as none', async (status, expected) => {
    expect((await add({ name: 'x', categoryId: 1, status })).json.data.addPet.status).toBe(expected);
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

    test('REST knows the animal of addPet under it, and addPet that of REST', async () => {
      const input = { name: 'both', categoryId: 1 };
      const headers = { 'idempotency-key': 'both' };
      const first = await add(input, headers);
      const rest = await gateway.createPet(input, headers);
      expect([String(rest.json.id), rest.headers.get('idempotency-replayed')]).toEqual([
        first.json.data.addPet.id,
        'true',
      ]);
      const other = await gateway.createPet(input, { 'idempotency-key': 'rest-first' });
      const graphql = await add(input, { 'idempotency-key': 'rest-first' });
      expect([graphql.json.data.addPet.id, graphql.headers.get('idempotency-replayed')]).toEqual([
        String(other.json.id),
        'true',
      ]);
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

    test.each(['a b', 'é', 'x'.repeat(256), ''])('%j is no key: refused', async (key) => {
      const before = await countPets();
      const { json } = await add({ name: 'x', categoryId: 1 }, { 'idempotency-key': key });
      expect(json.errors[0].extensions.code).toBe('BAD_USER_INPUT');
      expect(await countPets()).toBe(before);
    });

    test('a query does not mind it', async () => {
      const { json } = await gateway.graphql('{ pets(limit: 1) { id } }', {}, { 'idempotency-key': 'a b' });
      expect(json.errors).toBeUndefined();
    });
  });
});
