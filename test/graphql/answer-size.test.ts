import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { createDocuments } from '../../src/graphql/documents.ts';
import { createExecution } from '../../src/graphql/execution.ts';
import { LIMITS } from '../../src/graphql/limits.ts';
import { createPlanner } from '../../src/schema/plan.ts';

const schema = buildSchema('type Query { title: String }');
let title = '';
for (const field of Object.values(schema.getQueryType()?.getFields() ?? {})) field.resolve = () => title;
const prepare = createDocuments({
  validate: () => ({ errors: [], deprecations: [] }),
  plan: createPlanner(schema),
});
const execute = createExecution(schema, 'books');

/** What `{"title":""}` leaves of the longest answer. */
const MOST = LIMITS.responseBytes.most - '{"title":""}'.length;

test.each([
  ['the longest', 'x', MOST, true],
  ['a byte more', 'x', MOST + 1, false],
  ['the longest, in letters of two bytes', 'é', MOST / 2, true],
  ['a letter of two bytes more', 'é', MOST / 2 + 1, false],
  ['letters of three bytes', '€', Math.ceil(MOST / 3) + 1, false],
])('an answer has as many bytes as its text in UTF-8: %s', async (_what, letter, count, fits) => {
  title = letter.repeat(count);
  const [prepared] = prepare('{ title }').operations;
  const answer =
    prepared &&
    (await execute({ prepared, variables: {}, context: {} as never, reserve: () => undefined, onRun() {} }));
  expect(answer?.errors.map(({ extensions }) => extensions.code)).toEqual(fits ? [] : [LIMITS.responseBytes.code]);
  expect(answer?.dataJson === 'null').toBe(!fits);
});

test('also when graphql-js runs it', async () => {
  title = '€'.repeat(Math.ceil(MOST / 3) + 1);
  const [prepared] = prepare('{ title __schema { queryType { name } } }').operations;
  const answer =
    prepared &&
    (await execute({ prepared, variables: {}, context: {} as never, reserve: () => undefined, onRun() {} }));
  expect(answer?.errors.map(({ extensions }) => extensions.code)).toEqual([LIMITS.responseBytes.code]);
});
