import { buildSchema, type FieldNode, getVariableValues, Kind, type OperationDefinitionNode, parse } from 'graphql';
import { expect, test } from 'vitest';
import { planArguments } from '../../src/schema/plan.ts';

const schema = buildSchema(`
  input Book { title: String author: Author tags: [String] }
  input Author { name: String }
  type Query { find(text: String, book: Book, books: [Book]): String }
`);

/** The arguments of the one field of a query, read for each of the values that its variable has. */
function readFor(given: string, values: readonly unknown[]) {
  const document = parse(`query ($v: String) { find(${given}) }`);
  const operation = document.definitions[0] as OperationDefinitionNode;
  const [node] = operation.selectionSet.selections as readonly [FieldNode];
  const field = schema.getQueryType()?.getFields().find;
  if (node.kind !== Kind.FIELD || field === undefined) throw new Error('the query asks for one field');
  const read = planArguments(field, node);
  return values.map((v) => {
    const { variableValues } = getVariableValues(schema, operation.variableDefinitions ?? [], { v });
    if (variableValues === undefined) throw new Error('the variable is a text');
    return read(variableValues);
  });
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
