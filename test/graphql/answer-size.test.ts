import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { createDocuments } from '../../src/gateway/graphql/documents.ts';
import { createExecution } from '../../src/gateway/graphql/execution.ts';
import { LIMITS } from '../../src/gateway/graphql/limits.ts';

const schema = buildSchema(
  'type Query { title: String book: Book } type Book { title: String author: Author } type Author { name: String }',
);
let title = '';
let book: unknown;
const { title: titleField, book: bookField } = schema.getQueryType()?.getFields() ?? {};
if (titleField) titleField.resolve = () => title;
if (bookField) bookField.resolve = () => book;
const prepare = createDocuments(schema, []);
const execute = createExecution(schema, 'books');
const run = (text: string) => {
  const [prepared] = prepare(text).operations;
  if (!prepared) throw new Error('one operation');
  return execute({ prepared, variables: {}, context: {} as never, reserve: () => undefined, bytes: 0, onRun() {} });
};

/** What `{"title":""}` leaves of the longest answer. */
const MOST = LIMITS.responseBytes.max - '{"title":""}'.length;

test.each([
  ['the longest', 'x', MOST, true],
  ['a byte more', 'x', MOST + 1, false],
  ['the longest, in letters of two bytes', 'é', MOST / 2, true],
  ['a letter of two bytes more', 'é', MOST / 2 + 1, false],
  ['letters of three bytes', '€', Math.ceil(MOST / 3) + 1, false],
])('an answer has as many bytes as its text in UTF-8: %s', async (_what, letter, count, fits) => {
  title = letter.repeat(count);
  const answer = await run('{ title }');
  expect(answer.errors.map(({ extensions }) => extensions.code)).toEqual(fits ? [] : [LIMITS.responseBytes.code]);
  expect(answer.dataJson === 'null').toBe(!fits);
});

test.each([
  ['a long one', 2 ** 20, true],
  ['another not', 1000, false],
])('a turn of the event loop that writes an answer does not finish it, too: %s', async (_what, length, isLater) => {
  title = 'x'.repeat(length);
  let hasTurned = false;
  setImmediate(() => {
    hasTurned = true;
  });
  await run('{ title }');
  expect(hasTurned).toBe(isLater);
});

test('the longest are joined and copied in turns of their own', async () => {
  title = 'x'.repeat(MOST);
  let turns = 0;
  const count = (): void => {
    turns++;
    immediate = setImmediate(count);
  };
  let immediate = setImmediate(count);
  await run('{ title }');
  clearImmediate(immediate);
  expect(turns).toBeGreaterThanOrEqual(2);
});

test('also when graphql-js runs it', async () => {
  title = '€'.repeat(Math.ceil(MOST / 3) + 1);
  const answer = await run('{ title __schema { queryType { name } } }');
  expect(answer.errors.map(({ extensions }) => extensions.code)).toEqual([LIMITS.responseBytes.code]);
});

test('what is written anew, because a part of it comes late, is counted once', async () => {
  book = { title: 'x'.repeat(0.6 * LIMITS.responseBytes.max), author: Promise.resolve({ name: 'late' }) };
  const { dataJson, errors } = await run('{ book { title author { name } } }');
  expect(errors).toEqual([]);
  expect(dataJson?.endsWith(',"author":{"name":"late"}}}')).toBe(true);
});
