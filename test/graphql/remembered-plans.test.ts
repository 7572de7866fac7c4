import { buildSchema, getVariableValues } from 'graphql';
import { expect, test } from 'vitest';
import { createDocuments } from '../../src/gateway/graphql/documents.ts';
import { GRAPHQL_FORMAT } from '../../src/gateway/schema/schema.ts';
import { createPlanner } from '../../src/lib/graphql-plan/graphql-plan.ts';

const schema = buildSchema('type Query { pet: Pet } type Pet { id: ID parent: Pet }');
for (const field of Object.values(schema.getQueryType()?.getFields() ?? {})) field.resolve = () => null;

/** How often the operations of a document are planned, in turn, that are asked for with each of these variables. */
function plansOf(text: string, given: readonly Record<string, unknown>[]): number {
  const plan = createPlanner(schema, GRAPHQL_FORMAT);
  let plans = 0;
  const prepare = createDocuments(schema, [], (...request) => {
    plans++;
    return plan(...request);
  });
  for (const [index, variables] of given.entries()) {
    const { operations } = prepare(text);
    const prepared = operations[index % operations.length];
    const definitions = prepared?.operation.variableDefinitions ?? [];
    const { variableValues } = getVariableValues(schema, definitions, variables);
    if (variableValues) prepared?.plan(variableValues);
  }
  return plans;
}

const YES = { yes: true };
const NO = { yes: false };
const CONDITION = 'query ($yes: Boolean = true) { pet { id @include(if: $yes) parent { id } } }';
const BETWEEN = 'query ($before: Boolean, $yes: Boolean!, $after: Boolean) { pet { id @include(if: $yes) } }';
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const NONE = `query (${NAMES.map((name) => `$${name}: Boolean`).join(' ')}) { pet @skip(if: true) { id } }`;
/** All combinations of six Booleans. */
const SIX = Array.from({ length: 64 }, (_, bits) =>
  Object.fromEntries(NAMES.map((name, place) => [name, (bits & (1 << place)) !== 0])),
);
const LEVELS = [0, 1, 2, 3, 4, 5, 6];
/** Each fragment spreads the next one under two names: far more fields than tokens. */
const DOUBLED = `query ($yes: Boolean) { pet { ...F0 } } ${LEVELS.map((n) => `fragment F${n} on Pet { a: parent { ...F${n + 1} } b: parent { ...F${n + 1} } }`).join(' ')} fragment F7 on Pet { id }`;

test.each<readonly [string, string, readonly Record<string, unknown>[], number]>([
  ['once where nothing depends on a variable', 'query ($yes: Boolean) { pet { id } }', [YES, NO, YES], 1],
  ['once for each value of a condition', CONDITION, [YES, NO, YES, NO], 2],
  ['once for each value of @skip', CONDITION.replace('@include', '@skip'), [YES, NO, YES, NO], 2],
  ['once for a value and for the default that is the same', CONDITION, [YES, {}], 1],
  [
    'for each of several variables',
    BETWEEN,
    [
      { before: true, yes: false },
      { yes: true, after: false },
    ],
    2,
  ],
  ['once beside another operation', 'query A { pet { id } } query B { pet { id } }', [{}, {}, {}, {}], 2],
  [
    'anew when a fragment has fields for many: together they are no more than the tokens',
    `${[1, 2, 3, 4, 5, 6, 7, 8].map((n) => `query Q${n} { pet { ...F } }`).join(' ')} fragment F on Pet { ${'abcdefghijklmno'.replaceAll(/./g, '$&: id ')}}`,
    Array.from({ length: 16 }, () => ({})),
    16,
  ],
  ['anew when there are more combinations than tokens, also of no field', NONE, [...SIX, ...SIX], 2 * SIX.length],
  ['anew when its fragments make more fields than it has tokens: its memory is not counted', DOUBLED, [YES, YES], 2],
])('an operation is planned %s', (_how, text, variables, times) => {
  expect(plansOf(text, variables)).toBe(times);
});
