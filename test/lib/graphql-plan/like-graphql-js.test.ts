import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import {
  execute as executeByGraphqlJs,
  GraphQLError,
  type GraphQLOutputType,
  getNamedType,
  isObjectType,
  Kind,
  parse,
  validate,
} from 'graphql';
import { expect, test } from 'vitest';
import {
  createArgumentsOf,
  createPlannedExecution,
  createPlanner,
  type NO_VARIABLES,
  PLANNED_FIELDS_MAX,
} from '../../../src/lib/graphql-plan/graphql-plan.ts';
import { expectGraphqlJs } from '../../support/graphql-js-watch.ts';
import { contextOf, createShopSchema, type Person, type Rows, type Shop, wrong } from './shop-schema.ts';

const schema = createShopSchema();
const plan = createPlanner(schema, {
  leafWriter: (type) => (value) => JSON.stringify(type.coerceOutputValue(value)),
  omitsNull: false,
});
const execute = createPlannedExecution({ bytesMax: 2 ** 20, tooLarge: new GraphQLError('too large') });

const id = fc.integer({ min: 1, max: 6 });
const rarely = <Value>(right: fc.Arbitrary<Value>, ...others: unknown[]): fc.Arbitrary<Value> =>
  fc.oneof({ weight: 12, arbitrary: right }, fc.constantFrom(...others).map(wrong<Value>));
const text = fc.constantFrom('Rex', '', '"\\\n\u2028é🐢');
const place = fc.record({
  street: rarely(text, null, undefined),
  number: rarely(fc.integer({ min: -5, max: 5 }), null, 1.5, 'ten'),
});
const person: fc.Arbitrary<Person> = fc.record({ id, name: rarely(text, null), shopId: id });
const failed = new Error('a row that could not be read');
const promised = person.map((one) => Promise.resolve(one)).map(wrong<Person>);
const shop: fc.Arbitrary<Shop> = fc.record({
  id: rarely(id, null),
  name: rarely(text, null),
  place: rarely(place, null, undefined, failed, Promise.resolve({ street: 'Late Street', number: 1 })),
  mailbox: rarely(place, null),
  ownerId: fc.integer({ min: 1, max: 9 }),
  staff: rarely(fc.array(rarely(person, null), { maxLength: 3 }), null, 'no list'),
  guests: rarely(
    fc.array(fc.oneof({ weight: 8, arbitrary: rarely(person, null, failed) }, promised), { maxLength: 3 }),
    null,
  ),
});
const rows = fc.record({ shops: fc.array(shop, { maxLength: 4 }), people: fc.array(person, { maxLength: 6 }) });

/** A selection of a type, in every form that a document can write it. */
function selectionOf(type: GraphQLOutputType, depth: number): fc.Arbitrary<string> {
  const named = getNamedType(type);
  if (!isObjectType(named)) return fc.constant('');
  const fields = Object.values(named.getFields()).filter(
    (field) => depth > 0 || !isObjectType(getNamedType(field.type)),
  );
  const field = fc.oneof(
    ...fields.map((one) => fieldOf(one, depth)),
    fc.constantFrom('__typename', 'kind: __typename'),
  );
  const wrapped = fc
    .tuple(fc.constantFrom(`... on ${named}`, '...', '... @include(if: $yes)', '... @skip(if: $yes)'), field)
    .map(([on, inner]) => `${on} { ${inner} }`);
  const directed = field.map((one) => one.replace(/^[^({]+(?:\([^)]*\))?/, (head) => `${head} @skip(if: $no) `));
  return fc
    .array(fc.oneof({ weight: 8, arbitrary: field }, wrapped, directed), { minLength: 1, maxLength: depth > 0 ? 5 : 3 })
    .map((all) => `{ ${all.join(' ')} }`);
}

function fieldOf(
  { name, type, args }: { name: string; type: GraphQLOutputType; args: readonly { name: string }[] },
  depth: number,
) {
  const argument: Record<string, fc.Arbitrary<string>> = {
    limit: fc.constantFrom('', '(limit: 3)', '(limit: $limit)', '(limit: 0)'),
    id: fc.constantFrom('(id: 1)', '(id: 2)', '(id: $limit)', '(id: 9)'),
    word: fc.constantFrom('', '(word: "no")', '(word: "Hi")', '(word: $word)'),
  };
  const given = argument[args[0]?.name ?? ''] ?? fc.constant('');
  const alias = fc.constantFrom('', '', 'a: ', 'b: ', '__proto__: ');
  return fc
    .tuple(alias, given, selectionOf(type, depth - 1))
    .map(([called, list, selection]) => `${called}${name}${list} ${selection}`);
}

const root = fc.oneof(
  { weight: 4, arbitrary: selectionOf(wrong(schema.getQueryType()), 3).map((selection) => `query ${selection}`) },
  selectionOf(wrong(schema.getMutationType()), 2).map((selection) => `mutation ${selection}`),
);
const condition = rarely(fc.boolean(), null);
const variables = fc.record({ yes: condition, no: condition, limit: fc.integer({ min: 1, max: 3 }), word: text });

/** The document with its variables declared and, often, a part of it in a fragment. */
const documents = fc.tuple(root, fc.boolean()).map(([whole, isSpread]) => {
  const declared = '($yes: Boolean = true, $no: Boolean = false, $limit: Int!, $word: String!)';
  const spread = isSpread ? whole.replaceAll(/owner *(\{[^{}]*\})/g, 'owner { ...Known ...Known }') : whole;
  const definition = spread.includes('...Known') ? ' fragment Known on Person { id shop { name owner { name } } }' : '';
  return spread.replace(/^\w+/, (type) => `${type} Named${declared}`) + definition;
});

/** What a client can see of errors: messages of ours and of GraphQL, and no words of a fault. */
function told(errors: readonly GraphQLError[]) {
  const isOurs = /^(?:no \w+|Cannot return null .*|a row .*)$/;
  const shown = errors.map(({ message, path }) => `${path?.join('.')}: ${isOurs.test(message) ? message : 'fault'}`);
  return shown.sort();
}

/** Errors without the name at the root and the indices of list items: which of several ends all is a matter of microtasks. */
const anyItem = (errors: readonly string[]) =>
  errors.map((error) => error.replace(/^\w+\./, '*.').replaceAll(/\.\d+/g, '.*'));

type Given = Record<string, unknown>;
type Kept = Omit<Rows, 'loads'>;

/** What was loaded, when nothing is under way any more. */
async function settled({ loads }: Rows): Promise<readonly number[][]> {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  return loads;
}

async function runByPlan(query: string, given: Given, rows: Kept) {
  const found = { ...rows, loads: [] };
  const document = parse(query);
  const [operation] = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION) as [any];
  const values = { sources: {}, coerced: given } as typeof NO_VARIABLES;
  const request = {
    plan: plan(document, operation, values),
    isMutation: operation.operation === 'mutation',
    variables: values,
    argumentsOf: createArgumentsOf(values, undefined),
    context: contextOf(found),
  };
  const { dataJson, errors } = await execute(request);
  return { text: dataJson, errors: told(errors), loads: await settled(found) };
}

async function runByGraphqlJs(query: string, given: Given, rows: Kept) {
  const found = { ...rows, loads: [] };
  const { data, errors = [] } = await executeByGraphqlJs({
    schema,
    document: parse(query),
    variableValues: given,
    contextValue: contextOf(found),
  });
  return { text: JSON.stringify(data), errors: told(errors), loads: await settled(found) };
}

test('nested objects, loaded and exposed: the data and the errors of graphql-js, and no turn more', async () => {
  const executed = expectGraphqlJs();
  let valid = 0;
  let failing = 0;
  await fc.assert(
    fc.asyncProperty(documents, variables, rows, async (query, given, kept) => {
      const unused = validate(schema, parse(query)).filter(({ message }) => !/is never used/.test(message));
      fc.pre(unused.length === 0);
      const byPlan = await runByPlan(query, given, kept);
      const byGraphqlJs = await runByGraphqlJs(query, given, kept);
      if (byPlan.text === 'null') {
        // When all data is lost, what is under way ends a little sooner or later, with its errors:
        // https://spec.graphql.org/October2021/#sec-Handling-Field-Errors
        byGraphqlJs.loads = byPlan.loads;
        const expected = anyItem(byGraphqlJs.errors);
        expect(anyItem(byPlan.errors).filter((error) => expected.includes(error))).not.toEqual([]);
        byGraphqlJs.errors = byPlan.errors;
      }
      expect(byPlan).toEqual(byGraphqlJs);
      valid++;
      failing += Math.sign(byPlan.errors.length);
    }),
    { numRuns: 500 },
  );
  expect(executed.length).toBeGreaterThanOrEqual(valid);
  expect(failing).toBeGreaterThan(valid / 10);
  expect(failing).toBeLessThan(valid * 0.9);
});

test.each([
  ['at the root', '{ count @include(if: $yes) shop(id: 1) { id } }'],
  ['in a fragment at the root', '{ ...Part } fragment Part on Query { count ... @skip(if: $yes) { count } }'],
  ['of an object', '{ count shop(id: 1) { id @skip(if: $yes) } }'],
  ['of the objects of a list', '{ shops { id guests { id @include(if: $yes) } } }'],
  ['of an object that may not be null', '{ shop(id: 1) { id mailbox { number @include(if: $yes) } } }'],
  ['of an object that is not there', '{ shop(id: 9) { id @include(if: $yes) } count }'],
  [
    'behind another one',
    '{ shop(id: 1) { id @skip(if: $no) @include(if: $yes) name @skip(if: true) @include(if: $yes) } }',
  ],
  ['of a spread', '{ shop(id: 1) { ...Part @include(if: $yes) } } fragment Part on Shop { id }'],
  ['in a mutation', 'mutation { enter(id: 1) { id @include(if: $yes) } again: enter(id: 2) { id } }'],
  ['at the root of a mutation', 'mutation { enter(id: 1) { id } again: enter(id: 2) @include(if: $yes) { id } }'],
])('a condition that is null, %s: the answer of graphql-js', async (_where, query) => {
  const declared = query.replace(
    /^(?:query|mutation)? ?/,
    (type) => `${type || 'query '}($yes: Boolean = false, $no: Boolean = false) `,
  );
  const people = [1, 2].map((one) => ({ id: one, name: 'Ann', shopId: 1 }));
  const rows = { shops: [{ ...ROW, guests: people }], people };
  const byPlan = await runByPlan(declared, { yes: null, no: false }, rows);
  expect(byPlan).toEqual(await runByGraphqlJs(declared, { yes: null, no: false }, rows));
});

test.each([
  '{ __schema { queryType { name fields(includeDeprecated: $yes) { name } } } shops { id } }',
  '{ __type(name: "Query") { name fields(includeDeprecated: $yes) { name } } count }',
  '{ a: __schema { types { kind fields(includeDeprecated: $yes) { name } } } b: __schema { queryType { name } } }',
  '{ __type(name: "Shop") { name @include(if: $yes) } count }',
  '{ __schema { types { name @include(if: $yes) } } count }',
  '{ __type(name: "None") { fields(includeDeprecated: $yes) { name } } count }',
  '{ __schema { queryType { fields(includeDeprecated: $yes) { name } } } count person(id: 9) { id } }',
])('an error below introspection: the answer of graphql-js to %s', async (query) => {
  const rows = { shops: [ROW], people: [] };
  const declared = `query ($yes: Boolean = false) ${query}`;
  const byPlan = await runByPlan(declared, { yes: null }, rows);
  expect(byPlan).toEqual(await runByGraphqlJs(declared, { yes: null }, rows));
});

const MAILBOX = { street: 'Low Street', number: 1 };
const ROW: Shop = { id: 1, name: null, place: null, mailbox: MAILBOX, ownerId: 1, staff: null, guests: [] };

const ANN: Person = { id: 1, name: 'Ann', shopId: 1 };
const later = (one: Person) => Promise.resolve(one);
const failing = () => setTimeout(5).then(() => refuse());
const refuse = () => {
  throw failed;
};
/** Lists that are no Array, anew for each execution: some give their items once. */
const ITERABLES: Record<string, () => unknown> = {
  'a Set': () => new Set([ANN, { ...ANN, id: 2 }]),
  'a Set of promises': () => new Set([later(ANN), later({ ...ANN, id: 2 })]),
  'an empty Set': () => new Set(),
  'a Map': () => new Map([['ann', ANN]]),
  'the values of a Map': () => new Map([['ann', ANN]]).values(),
  'a generator': () =>
    (function* () {
      yield ANN;
      yield later({ ...ANN, id: 2 });
    })(),
  'a generator that throws': () =>
    (function* () {
      yield failing();
      yield refuse();
    })(),
  'a Set with a null, and a promise that rejects later': () => new Set([null, failing()]),
  'a text': () => 'ann',
  'an object': () => ANN,
  'a list whose Symbol.iterator is no function': () => ({ [Symbol.iterator]: 1 }),
};
test.each(Object.entries(ITERABLES))('a list that is no Array, %s: the answer of graphql-js', async (_what, list) => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  const query = '{ shops { id guests { id name } staff { id } } count }';
  const rows = () => ({ shops: [{ ...ROW, guests: wrong<[]>(list()), staff: wrong<[]>(list()) }], people: [] });
  const byPlan = await runByPlan(query, {}, rows());
  expect(byPlan).toEqual(await runByGraphqlJs(query, {}, rows()));
  await setTimeout(20);
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

test('an answer that becomes too large within its objects has no data, and says so once', async () => {
  const shops = Array.from({ length: 100 }, () => ROW);
  const people = [{ id: 1, name: 'n'.repeat(4000), shopId: 1 }];
  const few = await runByPlan('{ shops(limit: 20) { owner { name a: name b: name } } }', {}, { shops, people });
  expect(few.errors).toEqual([]);
  const query = '{ shops(limit: 100) { owner { name a: greeting b: name c: name } } count }';
  const { text, errors } = await runByPlan(query, {}, { shops, people });
  expect(text).toBe('null');
  expect(errors).toHaveLength(1);
});

test('the cached text of a shared list is not given for a list that does not fit the schema', async () => {
  const people = [{ id: 1, name: 'Rex', shopId: 1 }];
  const shops = [
    { ...ROW, staff: [wrong<Person>(null)] },
    { ...ROW, staff: people },
  ];
  const { text, errors } = await runByPlan('{ shops { staff { name } } }', {}, { shops, people });
  expect(text).toBe('{"shops":[{"staff":null},{"staff":[{"name":"Rex"}]}]}');
  expect(errors).toEqual(['shops.0.staff.0: Cannot return null for non-nullable field Shop.staff.']);
});

test('an error in the place of an object is told, also where nothing but its name is asked for', async () => {
  const shops = [{ ...ROW, guests: [wrong<Person>(failed)] }];
  const { text, errors } = await runByPlan('{ shops { guests { name } } }', {}, { shops, people: [] });
  expect(text).toBe('{"shops":[{"guests":[null]}]}');
  expect(errors).toEqual(['shops.0.guests.0: a row that could not be read']);
});

test('what is still under way when the answer is there asks for nothing more', async () => {
  const people = [1, 2, 3, 4].map((one) => ({ id: one, name: 'Ann', shopId: 1 }));
  const within = 'friends(limit: 1) { friends(limit: 1) { friends(limit: 1) { id } } }';
  const query = `{ person(id: 99) { id } shop(id: 1) { boss { ${within} } } }`;
  const { text, loads } = await runByPlan(query, {}, { shops: [ROW], people });
  expect(text).toBe('null');
  expect(loads).toEqual([[99, 1], [2]]); // the second of them was asked for before the answer
});

test('a plan of the most fields is whole, and one with more says so', () => {
  const planOf = (leaves: number) => {
    const document = parse(
      `{ shop(id: 1) { ${Array.from({ length: leaves }, (_, index) => `a${index}: id`).join(' ')} } }`,
    );
    const [operation] = document.definitions;
    if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('the document is one operation');
    return plan(document, operation);
  };
  const most = planOf(PLANNED_FIELDS_MAX - 1); // and the shop
  expect(most.fieldCount).toBe(PLANNED_FIELDS_MAX);
  expect(most.fields[0]?.selection?.fields).toHaveLength(PLANNED_FIELDS_MAX - 1);
  expect(planOf(PLANNED_FIELDS_MAX).fieldCount).toBeGreaterThan(PLANNED_FIELDS_MAX);
});

test('what fails within an object that is lost already is told to nobody', async () => {
  const shops = [{ ...ROW, id: 4 }]; // whose size is wrong
  const people = [1, 2, 3].map((one) => ({ id: one, name: 'Ann', shopId: 4 }));
  const slow = 'friends(limit: 1) { friends(limit: 1) { id } }';
  const query = `{ shop(id: 4) { owner { shop { motto } } size } person(id: 1) { ${slow} } }`;
  const { text, errors } = await runByPlan(query, {}, { shops, people });
  expect(text).toBe('{"shop":null,"person":{"friends":[{"friends":[{"id":"3"}]}]}}');
  expect(errors).toEqual([expect.stringMatching(/^shop\.size: /)]);
});
