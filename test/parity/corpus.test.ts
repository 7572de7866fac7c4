import { beforeAll, describe, expect, test } from 'vitest';
import { number } from '../graphql/exact-json.ts';
import { describeEachEngine } from '../support/engines.ts';
import { gatewayOf } from '../support/gateway.ts';
import { APIS, type ListRequest, type Outcome } from './apis.ts';

const GOOD = { name: 'Rex', categoryId: 1 };
const words = (text: string) => text.split(' ');

/** Names that are kept byte for byte. */
const NAMES = [
  ...['', ' ', '  Rex  ', '\0', 'a\0b', 'a\r\nb\tc', '"\'`\\ \\" \\u0041', "'); DROP TABLE pets; -- ?", '__proto__'],
  ...[
    '</script><img src=x onerror=alert(1)>',
    '🐶',
    '👩‍👩‍👧‍👦',
    'e\u0301',
    '\u00e9',
    `a${'\u0301'.repeat(40)}`,
    'كلب \u202e!',
  ],
  ...['\ufeffRex', '\u2028\u2029', '\ufffe\uffff\u{10ffff}', '\ufffd', '9223372036854775808'],
  ...['x'.repeat(60_000), '🐈'.repeat(15_000)],
];
/** JSON numbers that are 64-bit integers, and which. */
const INTEGERS = [
  ...words('0=0 -0=0 -0.0=0 0e400=0 0e999999999=0 1=1 -1=-1 1.0=1 10e-1=1 0.1e1=1 100e-2=1 0.5e1=5 1e2=100 1E+2=100'),
  ...words('1.00000000000000000000=1 2147483648=2147483648 9007199254740991=9007199254740991'),
  ...words('9007199254740992=9007199254740992 9007199254740993=9007199254740993 -9007199254740993=-9007199254740993'),
  ...words('9007199254740993.000=9007199254740993 1e18=1000000000000000000 9e18=9000000000000000000'),
  ...words('999999999999999999=999999999999999999 9223372036854775806=9223372036854775806'),
  ...words('9223372036854775807=9223372036854775807 9223372036854775807.0=9223372036854775807'),
  ...words('922337203685477580.7e1=9223372036854775807 92233720368547758070E-1=9223372036854775807'),
  ...words('9.223372036854775807e18=9223372036854775807 -9223372036854775808=-9223372036854775808'),
].map((pair) => words(pair.replace('=', ' ')) as [spelling: string, stored: string]);

/** Bodies that both take, and the animal that each makes. */
const ACCEPTED: readonly (readonly [input: object, animal: object])[] = [
  ...NAMES.map((name) => [{ ...GOOD, name }, { name }] as const),
  ...INTEGERS.map(([spelling, categoryId]) => [{ ...GOOD, categoryId: number(spelling) }, { categoryId }] as const),
  ...['available', 'pending', 'sold'].map((status) => [{ ...GOOD, status }, { status }] as const),
];
/** Bodies that both refuse. */
const REFUSED: readonly object[] = [
  ...['\ud800', 'a\udc00b', '\udc00\ud800', 5, true, null, [], ['x'], {}].map((name) => ({ ...GOOD, name })),
  ...[
    ...words('9223372036854775808 -9223372036854775809 18446744073709551616 1e19 1e30 1e400 1e999999999 -1e999999999'),
    ...words('1.5 -0.1 1e-1 1e-400 0.99999999999999999999 1.00000000000000000001 9007199254740992.5'),
    ...['9223372036854775807.5', `1${'0'.repeat(5000)}`],
  ].map((spelling) => ({ ...GOOD, categoryId: number(spelling) })),
  ...['', ' 1', true, false, null, [], [1], {}, { valueOf: 1 }].map((categoryId) => ({ ...GOOD, categoryId })),
  ...words('x 01 +1 -0 1.0 1e2 0x1 ١ 9223372036854775808').map((categoryId) => ({ ...GOOD, categoryId })),
  ...['gone', '', ' sold', 'Sold', 'sold ', 'constructor', 5, true, ['x'], {}].map((status) => ({ ...GOOD, status })),
  ...[{ categoryId: 1 }, { name: 'x' }, {}, { Name: 'x', categoryId: 1 }, { name: 'x', categoryID: 1 }],
];

/** Lists, each accepted or refused by both; a value is written in an address and in a document alike. */
const ACCEPTED_LISTS: readonly ListRequest[] = [
  {},
  ...words('1 2 20 99 100').map((limit) => ({ limit })),
  ...words('available pending sold').map((status) => ({ status })),
  ...words('0 3 -1 9007199254740993 9223372036854775807 -9223372036854775808').map((after) => ({ after })),
  { limit: '2', status: 'sold', after: '1' },
];
const REFUSED_LISTS: readonly ListRequest[] = [
  ...words('0 -1 101 1.0 1e1 0x1 +1 2147483648 9223372036854775808 x true "1"').map((limit) => ({ limit })),
  ...words('gone Sold 5 true').map((status) => ({ status })),
  ...['', ' 1', '1 '].map((after) => ({ after })),
  ...words('x +1 01 -0 1.0 1e2 9223372036854775808 -9223372036854775809 ١').map((after) => ({ after })),
];
const IDS = ['1', '2', '0', '-1', '999', 'x', '01', '+1', ' 1', '1.0', '9223372036854775807', '9223372036854775808'];

describeEachEngine('one corpus, both APIs', (engine) => {
  const gateway = gatewayOf(engine, { LOG_LEVEL: 'silent' });
  beforeAll(async () => {
    for (const status of ['available', 'sold', undefined, 'sold', 'pending', 'sold'])
      await gateway.createPet({ ...GOOD, status });
  });

  const countPets = () => gateway.database.knex('pets').count({ pets: '*' });

  /** The animal that an API made of a body, without its id; both read it, alone and in a list. A refusal adds nothing. */
  const createBy = async (api: keyof typeof APIS, input: object) => {
    const before = await countPets();
    const outcome = await APIS[api].create(gateway, input);
    if (outcome === 'refused') {
      expect(await countPets()).toEqual(before);
      return outcome;
    }
    const { id, ...animal } = outcome[0] ?? expect.fail('an animal');
    for (const { get, list } of Object.values(APIS)) {
      expect(await get(gateway, id)).toEqual(outcome);
      expect(await list(gateway, { after: String(BigInt(id) - 1n), limit: '1' })).toEqual(outcome);
    }
    return animal;
  };
  const both = async (by: (api: keyof typeof APIS) => Promise<unknown>): Promise<unknown> => {
    const [rest, graphql] = [await by('rest'), await by('graphql')];
    expect(graphql).toEqual(rest);
    return rest;
  };
  const listBoth = (request: ListRequest) => both((api) => APIS[api].list(gateway, request)) as Promise<Outcome>;
  const title = (input: object) => JSON.stringify(input).slice(0, 80);

  describe('create', () => {
    test.each(ACCEPTED.map(([input, animal]) => [title(input), input, animal] as const))(
      '%s is accepted',
      async (_title, input, animal) => {
        const expected = { name: 'Rex', categoryId: '1', status: null, ...animal };
        expect(await both((api) => createBy(api, input))).toEqual(expected);
      },
    );

    test.each(REFUSED.map((input) => [title(input), input] as const))('%s is refused', async (_title, input) => {
      expect(await both((api) => createBy(api, input))).toBe('refused');
    });

    test('null as a status is the one difference: REST refuses it, GraphQL takes it as absent', async () => {
      const input = { ...GOOD, status: null };
      expect(await createBy('rest', input)).toBe('refused');
      expect(await createBy('graphql', input)).toMatchObject({ status: null });
    });
  });

  describe('list', () => {
    test.each(ACCEPTED_LISTS)('%j is answered', async (request) => {
      expect(await listBoth(request)).toBeInstanceOf(Array);
    });

    test.each(REFUSED_LISTS)('%j is refused', async (request) => {
      expect(await listBoth(request)).toBe('refused');
    });
  });

  test.each(IDS)('get %j: one animal, or none', async (id) => {
    expect(await both((api) => APIS[api].get(gateway, id))).toHaveLength(id === '1' || id === '2' ? 1 : 0);
  });
});
