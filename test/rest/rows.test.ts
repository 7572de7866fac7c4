import { buildSchema, type GraphQLObjectType, type GraphQLSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { createCompiler } from '../../src/gateway/rest/compile.ts';
import { compileOperationRow, type OperationRow } from '../../src/gateway/rest/operation.ts';
import { describeOperation } from '../../src/gateway/rest/operation-description.ts';
import type { Schemas } from '../../src/gateway/rest/representation.ts';
import { createRestApi } from '../../src/gateway/rest/rest-api.ts';
import { createBuilder, pageArguments } from '../../src/gateway/schema/builder.ts';
import type { Context } from '../../src/gateway/schema/context.ts';
import { admittedCall } from '../support/calls.ts';

const schema = buildSchema(`
  type Query {
    books(limit: Int! = 20, after: ID): [Book!]!
    book(id: ID!): Book
    shelves(after: ID): [Shelf!]!
    first: Book
    size(of: Int!): Book!
    gaps: [Book]
    search(by: Place!): Book!
    latest(first: Int! = 20): Book!
  }
  type Mutation { addBook(input: NewBook!): Book!  move(from: Place!, to: Place!): Book!  choose(which: Choice!): Book! }
  input Choice @oneOf { id: ID  isbn: String }
  input NewBook { title: String! }
  input Place { row: Int! }
  type Book { id: ID!  isbn: String!  title: String  label: String!  shelf: Shelf! }
  type Shelf { row: Int! }
`);
for (const root of [schema.getQueryType(), schema.getMutationType()]) {
  for (const field of Object.values(root?.getFields() ?? {})) field.resolve = () => null;
}
const { label } = (schema.getType('Book') as GraphQLObjectType).getFields();
if (label) label.resolve = () => 'B';
const compile = createCompiler(schema, []);

/** No resolver runs here that would read it. */
const NO_CONTEXT = {} as Context;

const ROW: OperationRow = {
  operationId: 'it',
  method: 'GET',
  path: '/books',
  summary: 'It',
  description: 'It.',
  document: 'query ($limit: Int, $after: ID) { books(limit: $limit, after: $after) { id title } }',
  success: { status: 200, description: 'It.' },
  examples: {},
};
/** The row compiled with another part, or with another document. */
const compiled = (other: Partial<OperationRow> | string = {}, schemas: Schemas = {}) => {
  const row = typeof other === 'string' ? { document: other } : other;
  return compileOperationRow({ ...ROW, ...row }, 'books', compile, schemas);
};

const BY_ID = { path: '/books/{id}', document: 'query ($id: ID!) { book(id: $id) { id } }', notFound: 'No book.' };
const ADD = { method: 'POST', document: 'mutation ($input: NewBook!) { addBook(input: $input) { id } }' } as const;

const CREATED = { status: 201, description: 'It.' } as const;
const PAGE_OF_SHELVES = 'query ($after: ID) { shelves(after: $after) { row } }';
const located = (member: string, fields: string): Partial<OperationRow> => ({
  method: 'POST',
  document: `mutation ($input: NewBook!) { addBook(input: $input) { ${fields} } }`,
  success: { ...CREATED, location: `/books/${member}` },
});

test.each<readonly [string, Partial<OperationRow> | string, string]>([
  ['a change by GET', { ...ADD, method: 'GET' }, 'GET is for what changes nothing'],
  ['reading by POST', { method: 'POST' }, 'GET is for what changes nothing'],
  [
    'two bodies',
    { method: 'PUT', document: 'mutation ($a: Place!, $b: Place!) { move(from: $a, to: $b) { id } }' },
    'It has several bodies.',
  ],
  ['a parameter in the path that is no variable', { ...BY_ID, path: '/books/{isbn}' }, 'It requires no variable isbn.'],
  [
    'a parameter in the path that may be absent',
    { ...BY_ID, path: '/books/{after}', document: 'query ($after: ID) { books(after: $after) { id } }' },
    'It requires no variable after.',
  ],
  [
    'a parameter in the path, without the message of its 404',
    { path: '/sizes/{of}', document: 'query ($of: Int!) { size(of: $of) { id } }' },
    'It needs the message of its 404',
  ],
  ['an answer that may be null, without the message of its 404', '{ first { id } }', 'It needs the message of its 404'],
  ['an object whose first field may be null', '{ books { title id } }', 'The first field asked of Book'],
  ['introspection of the schema', '{ __schema { types { name } } }', '__Schema is of no kind'],
  [
    'introspection of a type, with the message of its 404',
    { document: 'query ($name: String!) { __type(name: $name) { name } }', notFound: 'No type.' },
    '__Type is of no kind',
  ],
  ['introspection beside a list', '{ books { id } __schema { types { name } } }', 'asks for one root field'],
  ['the name of its root type', '{ __typename }', 'asks for one root field'],
  ['a Location that tells what nothing asked for', located('{title}', 'id'), 'asks for no title'],
  ['a Location that tells what a resolver makes', located('{label}', 'id label'), 'which no resolver makes'],
  ['a Location that tells what may be null', located('{title}', 'id title'), 'never null'],
  ['a Location that tells an object', located('{shelf}', 'id shelf { row }'), 'a stored value'],
  ['a Location of a list', { success: { ...CREATED, location: '/books/{id}' } }, 'A list has no Location.'],
  ['a page whose items have no id', PAGE_OF_SHELVES, 'asks for no id'],
  [
    'an id under another name',
    { ...BY_ID, document: 'query ($id: ID!) { book(id: $id) { number: id } }' },
    'It asks for "number: id"',
  ],
  [
    'another field under the name of the id, by which pages go',
    'query ($after: ID) { books(after: $after) { id: isbn } }',
    'It asks for "id: isbn"',
  ],
  ['another field under the name of the id, which its Location tells', located('{id}', 'id: isbn'), '"id: isbn"'],
  ['the name of a type', '{ books { id __typename } }', 'asks for no __typename'],
  [
    'items that may be null',
    { document: '{ gaps { id title } }', notFound: 'No book.' },
    'The items of gaps may be null',
  ],
  [
    'an input that is one of its members',
    { method: 'PUT', document: 'mutation ($which: Choice!) { choose(which: $which) { id } }' },
    'Choice is @oneOf',
  ],
  ['a body of a GET', 'query ($by: Place!) { search(by: $by) { id } }', 'GET has no body'],
])('a row that does not fit stops the start: %s', (_what, row, message) => {
  expect(() => compiled(row)).toThrow(message);
  expect(() => compiled(row)).toThrow(/^it: /); // it says which row
});

/** The REST API of books that has these rows. */
const apiOf = (schema: GraphQLSchema, ...operationRows: OperationRow[]) => {
  const api = { title: 'Library', version: '1.0.0', description: 'Books.' };
  const resources = [{ table: { name: 'books' }, description: 'Books.', operationRows }];
  return createRestApi({ api, basePath: '', deprecations: [], resources }, schema, {} as never); // its resolvers read no store
};

test.each<readonly [string, Partial<OperationRow>, Partial<OperationRow>, string | undefined]>([
  ['one operationId', { operationId: 'it' }, {}, 'it: Two operations have this operationId.'],
  [
    'a Location of another path',
    located('{id}', 'id'),
    {},
    'add: No operation gets /books/{id}, which its Location tells.',
  ],
  [
    'a Location that only a change has',
    { ...ADD, path: '/new', success: { ...CREATED, location: '/new' } },
    {},
    'add: No operation gets /new, which its Location tells.',
  ],
  ['a Location of a path that is served', located('{key}', 'key: isbn id'), BY_ID, undefined],
])('rows that do not go together stop the start: %s', (_what, row, other, message) => {
  const build = () => apiOf(schema, { ...ROW, schemaName: 'Other', ...other }, { ...ROW, operationId: 'add', ...row });
  if (message === undefined) expect(build).not.toThrow();
  else expect(build).toThrow(message);
});

describe('a row that fits', () => {
  test.each<readonly [string, Partial<OperationRow> | string, boolean]>([
    ['a list with a place to begin after comes in pages', {}, true],
    ['a list without one does not', 'query ($limit: Int) { books(limit: $limit) { id } }', false],
    ['an object does not', BY_ID, false],
  ])('%s', (_what, row, isPaged) => {
    expect(compiled(row).isPaged).toBe(isPaged);
  });

  test.each<readonly [string, Partial<OperationRow>, string | undefined]>([
    ['the same form of a type twice', {}, undefined],
    ['two forms of a type under one name', { document: '{ books { id } }' }, 'give Book in two forms'],
    ['two forms of a type under two names', { document: '{ books { id } }', schemaName: 'Short' }, undefined],
    ['another form where nothing is told of it', { ...ADD, success: { status: 204, description: 'It.' } }, undefined],
  ])('in a description with %s', (_what, row, message) => {
    const describeBoth = () => {
      const schemas = {};
      compiled({}, schemas);
      compiled({ path: '/more', ...row }, schemas);
    };
    if (message === undefined) expect(describeBoth).not.toThrow();
    else expect(describeBoth).toThrow(message);
  });
});

test.each([
  ['of which it says how many', 'query ($limit: Int) { books(limit: $limit) { id } }', 'limit=7', 7],
  ['of which nobody says how many', '{ books { id } }', '', 100],
  ['in pages of which nobody says how many', 'query ($after: ID) { books(after: $after) { id } }', '', 100],
  ['that are within one, as in a connection', 'query ($first: Int) { latest(first: $first) { id } }', 'first=7', 7],
  ['of which there is one', 'query ($of: Int!) { size(of: $of) { id } }', 'of=7', 1],
])('a request reserves room for the objects %s', async (_which, document, querystring, objects) => {
  const reserve = (count: number) => {
    throw new Error(`${count} objects`);
  };
  const [route] = apiOf(schema, { ...ROW, document }).routes;
  await expect(route?.handle(admittedCall({ querystring, reserve }))).rejects.toThrow(`${objects} objects`);
});

test('a row with two deprecated fields announces the removal that comes first', () => {
  const replacement = { graphql: 'label', rest: 'label', restPath: '/books' };
  const deprecated = (field: string, day: string) =>
    ({ coordinate: `Book.${field}`, since: new Date('2026-01-01'), sunset: new Date(day), replacement }) as const;
  const compileDeprecated = createCompiler(schema, [
    deprecated('isbn', '2032-01-01'),
    deprecated('title', '2031-01-01'),
  ]);
  const row = { ...ROW, document: '{ books { id isbn title } }' };
  const { deprecation } = describeOperation(compileOperationRow(row, 'books', compileDeprecated, {}));
  expect(deprecation?.notice).toContain('1 January 2031');
});

describe('a page', () => {
  test.each([
    ['Book', 'Books'],
    ['Category', 'Categories'],
    ['Day', 'Days'],
    ['Key', 'Keys'],
  ])('of the schema %s has the schema %s', (schemaName, plural) => {
    const schemas: Schemas = {};
    expect(compiled({ schemaName }, schemas).answer).toEqual({ $ref: `#/components/schemas/${plural}` });
    expect(schemas[plural]).toEqual({ type: 'array', items: { $ref: `#/components/schemas/${schemaName}` } });
  });

  test('that would be larger than 32 MiB is refused', async () => {
    const { write } = compiled();
    const book = { id: 1, title: 'x'.repeat(2 ** 20) };
    const books = (count: number) => Array.from({ length: count }, () => book);
    expect((await write(books(31), NO_CONTEXT)).length).toBeGreaterThan(31 * 2 ** 20);
    await expect(write(books(32), NO_CONTEXT)).rejects.toMatchObject({
      code: 'bad_request',
      message: expect.stringContaining('ask for a smaller limit'),
    });
  });
});

test.each([
  [0, 'x'],
  [1, '0'],
])('the description shows for a parameter from %i on that it may not be %s', (least, value) => {
  const builder = createBuilder();
  const rule = z.int().check(z.gte(least), z.lte(9));
  builder.queryType({
    fields: (t) => ({
      place: t.int({ args: { row: t.arg.int({ required: true }).validate(rule) }, resolve: () => 0 }),
    }),
  });
  const document = 'query ($row: Int!) { place(row: $row) }';
  const operation = compileOperationRow({ ...ROW, document }, 'books', createCompiler(builder.toSchema(), []), {});
  const refusal = describeOperation(operation).answers.find(({ status }) => status === 400);
  const message = `row=${value} is not allowed: an integer from ${least} to 9.`;
  expect(refusal?.content?.example).toMatchObject({ message });
});

/** The answer of a list of books by a row: its resolver gives `page`, its objects have copies of which `copies` is the page. */
function listBooks(page: readonly { id: number }[], copies: readonly { id: number }[]) {
  const builder = createBuilder();
  const copy = builder.objectRef<{ id: number }>('Copy').implement({ fields: (t) => ({ id: t.exposeID('id') }) });
  const book = builder.objectRef<{ id: number }>('Book').implement({
    fields: (t) => ({ id: t.exposeID('id'), copies: t.field({ type: [copy], resolve: () => copies }) }),
  });
  builder.queryType({
    fields: (t) => ({
      books: t.field({ type: [book], args: pageArguments(builder, 'books'), resolve: () => page }),
    }),
  });
  const row = { ...ROW, document: 'query ($after: ID) { books(after: $after) { id copies { id } } }' };
  const [route] = apiOf(builder.toSchema(), row).routes;
  return route?.handle(admittedCall({ path: '/books', baseUrl: '' }));
}

const pageOf = (hasMore: boolean) => Object.assign([{ id: 1 }], { hasMore });

test.each([
  ['a page that has a next one', true, ['</books?after=1>; rel="next"']],
  ['a last page, whatever follows in the lists of its objects', false, []],
])('the Link of %s', async (_which, hasMore, links) => {
  const answer = await listBooks(pageOf(hasMore), pageOf(true));
  expect(answer?.body).toBe('[{"id":1,"copies":[{"id":1}]}]');
  expect([answer?.headers?.Link ?? []].flat()).toEqual(links);
});

test('a copy of a page, which does not tell whether more follow, is a fault', async () => {
  await expect(listBooks([...pageOf(true)], [])).rejects.toThrow('A copy of a page');
});

describe('a broken rule is told with what it is of', () => {
  const builder = createBuilder();
  const no = z.custom<never>(() => false, 'must be other');
  const input = builder.inputType('Input', { fields: (t) => ({ title: t.string() }) });
  builder.queryType({
    fields: (t) => ({ find: t.string({ args: { title: t.arg.string() }, validate: no, resolve: () => '' }) }),
  });
  builder.mutationType({
    fields: (t) => ({
      add: t.string({ args: { input: t.arg({ type: input, required: true }) }, validate: no, resolve: () => '' }),
      change: t.string({ args: { input: t.arg({ type: input, required: true }).validate(no) }, resolve: () => '' }),
    }),
  });
  const schema = builder.toSchema();

  test.each([
    ['a field without a body', 'GET', 'query ($title: String) { find(title: $title) }', 'The request'],
    ['a field with a body', 'POST', 'mutation ($input: Input!) { add(input: $input) }', 'The request'],
    ['a body', 'POST', 'mutation ($input: Input!) { change(input: $input) }', 'The body'],
  ] as const)('of %s', async (_what, method, document, subject) => {
    const [route] = apiOf(schema, { ...ROW, method, document }).routes;
    const refusal = { code: 'bad_request', message: `${subject} must be other.` };
    await expect(route?.handle(admittedCall({ method, body: Buffer.from('{}') }))).rejects.toMatchObject(refusal);
  });
});
