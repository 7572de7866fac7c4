import { expect, test } from 'vitest';
import { createDocuments } from '../../src/gateway/graphql/documents.ts';
import { countedAs, createBuilder, pageArguments } from '../../src/gateway/schema/builder.ts';
import { GRAPHQL_FORMAT } from '../../src/gateway/schema/schema.ts';
import { createPlanner, PLANNED_FIELDS_MAX } from '../../src/lib/graphql-plan/graphql-plan.ts';
import { leastCpuTimes } from '../support/cpu-time.ts';
import { createRefusalOf } from './cost-refusal.ts';

/** Nothing of the schema runs: it is planned, and counted. */
const never = () => expect.fail('a resolver ran');

/** Shops and people, who have each other: with pages, with lists that nothing bounds, and with a connection. */
function createNestedSchema() {
  const builder = createBuilder();
  const places = builder.objectRef<object>('Place').implement({
    fields: (t) => ({ street: t.string({ resolve: never }), number: t.int({ resolve: never }) }),
  });
  const people = builder.objectRef<object>('Person');
  const shops = builder.objectRef<object>('Shop');
  people.implement({
    extensions: countedAs('people'),
    fields: (t) => ({
      id: t.id({ resolve: never }),
      name: t.string({ resolve: never }),
      friends: t.field({ type: [people], args: pageArguments(builder, 'friends'), resolve: never }),
    }),
  });
  shops.implement({
    extensions: countedAs('shops'),
    fields: (t) => ({
      id: t.id({ resolve: never }),
      place: t.field({ type: places, resolve: never }),
      staff: t.field({ type: [people], nullable: true, resolve: never }),
      guests: t.field({ type: [people], nullable: { list: false, items: true }, resolve: never }),
      owner: t.field({ type: people, nullable: true, resolve: never }),
      boss: t.field({ type: people, resolve: never }),
      people: t.field({ type: [people], args: pageArguments(builder, 'people'), resolve: never }),
    }),
  });
  const edges = builder
    .objectRef<{ readonly node: object }>('ShopEdge')
    .implement({ fields: (t) => ({ node: t.expose('node', { type: shops }) }) });
  const page = builder
    .objectRef<{ readonly edges: readonly { readonly node: object }[] }>('ShopPage')
    .implement({ fields: (t) => ({ edges: t.expose('edges', { type: [edges] }) }) });
  const id = builder.args((t) => ({ id: t.int({ required: true }) }));
  builder.queryType({
    fields: (t) => ({
      shops: t.field({ type: [shops], args: pageArguments(builder, 'shops'), resolve: never }),
      shop: t.field({ type: shops, args: id, resolve: never }),
      person: t.field({ type: people, args: id, resolve: never }),
      shopPage: t.field({ type: page, args: pageArguments(builder, 'shops'), resolve: never }),
    }),
  });
  return builder.toSchema();
}

const schema = createNestedSchema();
const plan = createPlanner(schema, GRAPHQL_FORMAT);
const prepare = createDocuments(schema, [], plan);

const ANY_NUMBER = 'The request may touch any number of people; the limit is 500.';
const refusalOf = createRefusalOf(schema, 'shops', prepare);

test.each<[query: string, refusal: string | undefined]>([
  ['{ shops(limit: 100) { owner { name } boss { name } } }', undefined],
  // Five hundred of each: shops, and people.
  [`{ ${pages(5, 'owner { id }')} }`, undefined],
  [`{ ${pages(5, 'owner { id } boss { id }')} }`, 'The request may touch 1000 people; the limit is 500.'],
  [`{ ${pages(6, 'id')} }`, 'The request may touch 600 shops; the limit is 500.'],
  ['{ shops(limit: 50) { people(limit: 10) { id } } }', undefined],
  ['{ shops(limit: 50) { people(limit: 11) { id } } }', 'The request may touch 550 people; the limit is 500.'],
  ['{ shops { people { id } } }', undefined], // 20 times 20 by default
  ['{ shops { people { friends { id } } } }', 'The request may touch 8400 people; the limit is 500.'],
  // A page that the resolver refuses asks for nothing.
  ['{ shops(limit: 0) { people { friends { id } } } }', undefined],
  ['{ shops(limit: 101) { people { friends { id } } } }', undefined],
  // A connection: its edges are the page, and each has one node.
  ['{ shopPage(limit: 100) { edges { node { id } } } }', undefined],
  [
    `{ ${many(6, (n) => `p${n}: shopPage(limit: 100) { edges { node { id } } }`)} }`,
    'The request may touch 600 ShopEdge objects; the limit is 500.',
  ],
  ['{ shopPage(limit: 100) { edges { node { id } } again: edges { node { id } } } }', undefined],
  // A list that nothing bounds; a page counts once.
  ['{ shops { staff { id } } }', ANY_NUMBER],
  ['{ shop(id: 1) { staff { id } } }', ANY_NUMBER],
  ['{ shopPage { edges { node { guests { id } } } } }', ANY_NUMBER],
  // Leaves count for the type that they stand in; a place has two of them, and `__typename`.
  [
    `{ shops(limit: 100) { ${many(11, (n) => `p${n}: place { street number }`)} } }`,
    'The request may touch 1100 Place objects; the limit is 500.',
  ],
  [
    `{ shops(limit: 100) { place { ${many(16, (n) => `s${n}: street`)} } } }`,
    'The request may touch 1600 values of Place objects; the limit is 1500.',
  ],
])('each type is counted by itself: %s', (query, refusal) => {
  expect(refusalOf(query)).toBe(refusal);
});

function many(count: number, write: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => write(index)).join(' ');
}

function pages(count: number, selection: string): string {
  return many(count, (n) => `p${n}: shops(limit: 100) { ${selection} }`);
}

/** Fragments each of which spreads the next one in three places: 3 to the power of their number. */
const tripled = (levels: number) =>
  `{ person(id: 1) { ...F0 } } ${many(levels, (n) => `fragment F${n} on Person { a: friends(limit: 100) { ...F${n + 1} } b: friends(limit: 100) { ...F${n + 1} } friends(limit: 100) { ...F${n + 1} } }`)} fragment F${levels} on Person { id }`;

test('what fragments multiply is refused, in no more time than it takes to read', async () => {
  expect(refusalOf(tripled(2))).toBe('The request may touch 90301 people; the limit is 500.');
  const refusal = `The operation has more than ${PLANNED_FIELDS_MAX} fields, those of its fragments counted wherever they are spread.`;
  expect(refusalOf(tripled(13))).toBe(refusal);
  const [time = 0] = await leastCpuTimes([() => refusalOf(tripled(13))], ([least = 0]) => least < 50);
  expect(time).toBeLessThan(50);
});

test('a chain of lists within lists is counted, however large the number becomes', () => {
  const chain = `{ person(id: 1) { ${'friends(limit: 100) { '.repeat(13)}id${' }'.repeat(13)} } }`;
  expect(refusalOf(chain)).toMatch(/^The request may touch 1\.\d+e\+26 people; the limit is 500\.$/);
});
