import fc from 'fast-check';
import { type GraphQLError, parse, specifiedRules, validate } from 'graphql';
import { expect, test } from 'vitest';
import { validateDocument } from '../../src/gateway/graphql/documents.ts';
import { createPetDocuments, schema } from './schema-alone.ts';

/** Mostly what is right: a document that breaks all rules at once tells little. */
const mostly = (right: readonly string[], wrong: readonly string[]) =>
  fc.oneof({ weight: 40, arbitrary: fc.constantFrom(...right) }, fc.constantFrom(...wrong));

const condition = mostly(['', '', '', ' @include(if: true)'], [' @skip(if: $id)', ' @stream', ' @unknown', ' @skip']);
const leaf = mostly(['id', 'name', 'status', 'a: name'], ['name: id', 'colour', '...Parts', '...Missing']);
const root = mostly(
  ['pet(id: 1)', 'a: pet(id: "2")', 'b: pet(id: "$ @ ...")', 'pets(status: SOLD)'],
  ['c: pet(id: $id)', 'pet(id: $unknown)', 'pet(id: { id: 1, id: 2 })', 'pet(no: SOLD)', 'none', 'pets(limit: "1")'],
);
const selectionSet = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: fc.tuple(leaf, condition).map(([name, directive]) => `${name}${directive}`) },
      fc
        .tuple(mostly(['... on Pet', '...'], ['... on Query', 'status']), leaf)
        .map(([on, name]) => `${on} { ${name} }`),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((fields) => `{ ${fields.join(' ')} }`);
const rootField = fc.tuple(root, selectionSet).map(([field, fields]) => `${field} ${fields}`);
const operation = fc
  .tuple(
    mostly(['', 'query', 'query A'], ['query ($id: ID!)', 'query ($id: ID, $id: Pet)', 'mutation', 'query ($id: Pet)']),
    fc.array(rootField, { minLength: 1, maxLength: 3 }),
  )
  .map(([head, fields]) => `${head} { ${fields.join(' ')} }`);
const fragment = fc
  .tuple(fc.constantFrom('Parts on Pet', 'Parts on PetStatus', 'Other on Pet'), selectionSet)
  .map(([head, fields]) => `fragment ${head} ${fields}`);
const text = fc
  .tuple(
    fc.oneof({ weight: 4, arbitrary: fc.tuple(operation) }, fc.tuple(operation, operation)),
    fc.array(fragment, { maxLength: 2 }),
    mostly([''], ['type Own { id: Foreign }']),
  )
  .map(([operations, fragments, definition]) => [...operations, ...fragments, definition].join('\n'));

const messages = (errors: readonly GraphQLError[]) => errors.map((error) => error.toString());

test('a document is refused for what graphql-js refuses it for, whichever signs stand in it', () => {
  let refused = 0;
  fc.assert(
    fc.property(text, (document) => {
      const parsed = parse(document);
      const expected = validate(schema, parsed, specifiedRules, { maxErrors: 10 });
      const errors = validateDocument(schema, parsed, document);
      refused += Math.sign(errors.length);
      expect(messages(errors)).toEqual(messages(expected));
    }),
    { numRuns: 700 },
  );
  expect(refused).toBeGreaterThan(175);
  expect(refused).toBeLessThan(630);
});

test.each([
  ['{ pet(id: 1) { id } pet(id: 2) { id } }', 1],
  ['{ pet(id: 1) { a: id a: name } }', 1],
  ['{ pet(id: 1) { a: id ...P } } fragment P on Pet { a: name }', 1],
  ['{ pet(id: 1) { a: id ... on Pet { a: name } } }', 1],
  ['{ pet(id: 1) { id id } pet(id: 1) { name } }', 0],
])('fields of one name that cannot be merged: %s', (document, count) => {
  expect(validateDocument(schema, parse(document), document)).toHaveLength(count);
});

test.each([
  [16_384, 1],
  [16_385, undefined],
])('errors of a text of %i characters have %s locations', (size, count) => {
  const { errors } = createPetDocuments()('{ nothing }'.padEnd(size));
  expect(errors[0]?.locations?.length).toBe(count);
});
