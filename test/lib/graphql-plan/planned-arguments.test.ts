import { buildSchema, type FieldNode, getVariableValues, Kind, type OperationDefinitionNode, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { planArguments } from '../../../src/lib/graphql-plan/planned-arguments.ts';

const schema = buildSchema(`
  input Book { title: String author: Author tags: [String] }
  input Author { name: String }
  type Query {
    find(text: String, book: Book, books: [Book]): String
    list(limit: Int! = 20, book: Book): String
  }
`);

/** Gives the function that reads the arguments of the one field of a query, for the values of its variables. */
function readerOf(query: string) {
  const operation = parse(query).definitions[0] as OperationDefinitionNode;
  const [node] = operation.selectionSet.selections as readonly [FieldNode];
  const field = schema.getQueryType()?.getFields()[node.name.value];
  if (node.kind !== Kind.FIELD || field === undefined) throw new Error('the query asks for one field');
  const read = planArguments(field, node);
  return (values: Readonly<Record<string, unknown>>) => {
    const { variableValues } = getVariableValues(schema, operation.variableDefinitions ?? [], values);
    if (variableValues === undefined) throw new Error('the values are of the types of their variables');
    return read(variableValues);
  };
}

/** The arguments of one field, read for each of the values that its variable has. */
function readFor(given: string, values: readonly unknown[]) {
  const read = readerOf(`query ($v: String) { find(${given}) }`);
  return values.map((v) => read({ v }));
}

test.each([
  ['by itself', 'text: $v', (v: string) => ({ text: v })],
  ['in an object', 'book: { title: $v }', (v: string) => ({ book: { title: v } })],
  ['in an object of an object', 'book: { author: { name: $v } }', (v: string) => ({ book: { author: { name: v } } })],
  ['in a list', 'book: { tags: ["a", $v] }', (v: string) => ({ book: { tags: ['a', v] } })],
  ['in an object of a list', 'books: [{ title: $v }]', (v: string) => ({ books: [{ title: v }] })],
  ['after constants', 'text: "a", book: { title: $v }', (v: string) => ({ text: 'a', book: { title: v } })],
])('a variable %s has the value of each request', (_where, given, expected) => {
  expect(readFor(given, ['one', 'two'])).toEqual([expected('one'), expected('two')]);
});

test('what has no variable is coerced once for all requests', () => {
  const [one, two] = readFor('text: "a", book: { tags: "b" }', ['one', 'two']);
  expect(one).toEqual({ text: 'a', book: { tags: ['b'] } });
  expect(two).toBe(one);
});

describe('when each argument is a variable', () => {
  const read = readerOf('query ($limit: Int, $book: Book) { list(limit: $limit, book: $book) }');

  test('the values are as they are, and objects have a prototype at every depth', () => {
    const book = { title: 'a', author: { name: 'b' } };
    expect(read({ limit: 1, book })).toStrictEqual({ limit: 1, book });
  });

  test('one without a value has the default of its argument, or is left out', () => {
    expect(read({})).toStrictEqual({ limit: 20 });
    expect(read({ limit: 1 })).toStrictEqual({ limit: 1 });
  });

  test('null is a value where the argument takes it, and refused where it does not', () => {
    expect(read({ limit: 1, book: null })).toStrictEqual({ limit: 1, book: null });
    expect(() => read({ limit: null, book: {} })).toThrow(/non-null type "Int!"/);
  });
});
