import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { number } from '../graphql/exact-json.ts';
import { describeEachEngine } from '../support/engines.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { APIS, type ListRequest, type Outcome } from './apis.ts';

const GOOD = { name: 'Rex', categoryId: 1 };

/** Bodies, each accepted or refused by both. */
const ACCEPTED: readonly object[] = [
  ...[
    '',
    ' ',
    'Rex',
    '\0',
    '🐢',
    'e\u0301',
    '\u00e9',
    '\u2028',
    '\ufeff',
    '\uffff',
    "' OR 1=1 --",
    'x'.repeat(60_000),
  ].map((name) => ({ ...GOOD, name })),
  ...[
    '0',
    '-0',
    '1',
    '-1',
    '1.0',
    '10e-1',
    '1e2',
    '1E+2',
    '0.1e1',
    '0e400',
    '9007199254740992',
    '9007199254740993',
  ].map((spelling) => ({ ...GOOD, categoryId: number(spelling) })),
  ...['9007199254740993.0', '9223372036854775807', '-9223372036854775808', '9.223372036854775807e18'].map(
    (spelling) => ({
      ...GOOD,
      categoryId: number(spelling),
    }),
  ),
  ...['available', 'pending', 'sold'].map((status) => ({ ...GOOD, status })),
];
const REFUSED: readonly object[] = [
  ...['\ud800', 'a\udc00b', '\udc00\ud800', 5, true, null, [], ['x'], {}].map((name) => ({ ...GOOD, name })),
  ...['9223372036854775808', '-9223372036854775809', '1e19', '1.5', '1e-1', '0.99999999999999999999', '1e400'].map(
    (spelling) => ({ ...GOOD, categoryId: number(spelling) }),
  ),
  ...['', 'x', '1.0', ' 1', '01', true, null, [], [1], {}].map((categoryId) => ({ ...GOOD, categoryId })),
  ...['gone', '', ' sold', 'Sold', 'sold ', 5, true, ['x'], {}].map((status) => ({ ...GOOD, status })),
  { categoryId: 1 },
  { name: 'x' },
  {},
];

/** Lists, each accepted or refused by both; a value is written in an address and in a document alike. */
const ACCEPTED_LISTS: readonly ListRequest[] = [
  {},
  ...['1', '2', '20', '99', '100'].map((limit) => ({ limit })),
  ...['available', 'pending', 'sold'].map((status) => ({ status })),
  ...['0', '3', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775808'].map((after) => ({ after })),
  { limit: '2', status: 'sold', after: '1' },
];
const REFUSED_LISTS: readonly ListRequest[] = [
  ...['0', '-1', '101', '1.0', '1e1', '0x1', '+1', '2147483648', '9223372036854775808', 'x', 'true', '"1"'].map(
    (limit) => ({
      limit,
    }),
  ),
  ...['gone', 'Sold', '5', 'true'].map((status) => ({ status })),
  ...['', 'x', ' 1', '1 ', '+1', '01', '-0', '1.0', '1e2', '9223372036854775808', '-9223372036854775809', '١'].map(
    (after) => ({ after }),
  ),
];
const IDS = ['1', '2', '0', '-1', '999', 'x', '01', '+1', ' 1', '1.0', '9223372036854775807', '9223372036854775808'];

describeEachEngine('one corpus, both APIs', (engine) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(engine, { LOG_LEVEL: 'silent' });
    for (const status of ['available', 'sold', undefined, 'sold', 'pending', 'sold'])
      await gateway.createPet({ ...GOOD, status });
  });

  /** What an API made of a body: the animal without its id, and the same read back by the other API. */
  const createBy = async (api: keyof typeof APIS, input: object) => {
    const outcome = await APIS[api].create(gateway, input);
    if (outcome === 'refused') return outcome;
    const [created] = outcome;
    const other = api === 'rest' ? 'graphql' : 'rest';
    expect(await APIS[other].get(gateway, created?.id ?? '')).toEqual(outcome);
    return { ...created, id: 'of its own' };
  };
  const both = async (by: (api: keyof typeof APIS) => Promise<unknown>): Promise<unknown> => {
    const [rest, graphql] = [await by('rest'), await by('graphql')];
    expect(graphql).toEqual(rest);
    return rest;
  };
  const listBoth = (request: ListRequest) => both((api) => APIS[api].list(gateway, request)) as Promise<Outcome>;
  const title = (input: object) => JSON.stringify(input).slice(0, 80);

  describe('create', () => {
    test.each(ACCEPTED.map((input) => [title(input), input] as const))('%s is accepted', async (_title, input) => {
      expect(await both((api) => createBy(api, input))).toHaveProperty('name');
    });

    test.each(REFUSED.map((input) => [title(input), input] as const))('%s is refused', async (_title, input) => {
      expect(await both((api) => createBy(api, input))).toBe('refused');
    });

    test('any JSON number as a category id is the same integer to both, or none', async () => {
      const digits = fc.stringMatching(/^[0-9]{1,20}$/).map((text) => text.replace(/^0+(?=.)/, ''));
      const spelling = fc
        .tuple(
          fc.constantFrom('', '-'),
          digits,
          fc.option(fc.stringMatching(/^(0{1,20}|[0-9]{1,4})$/)),
          fc.option(fc.integer({ min: -20, max: 20 })),
        )
        .map(([sign, whole, fraction, exponent]) =>
          [sign, whole, fraction === null ? '' : `.${fraction}`, exponent === null ? '' : `e${exponent}`].join(''),
        );
      await fc.assert(
        fc.asyncProperty(spelling, async (text) => {
          await both((api) => createBy(api, { ...GOOD, categoryId: number(text) }));
        }),
        { numRuns: 100 },
      );
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
