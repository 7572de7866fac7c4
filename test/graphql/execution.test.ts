import { setImmediate as turn } from 'node:timers/promises';
import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { createDocuments } from '../../src/gateway/graphql/documents.ts';
import { createExecution } from '../../src/gateway/graphql/execution.ts';
import { collectGarbage } from '../support/garbage.ts';

const schema = buildSchema(
  'type Query { a: Int b: Int wrong: Int! rows(limit: Int): [Row] } type Mutation { a: Int b: Int } type Row { a: Int }',
);
/** What has happened since the last `run`, in its order. */
let events: string[] = [];
for (const type of [schema.getQueryType(), schema.getMutationType()]) {
  for (const field of Object.values(type?.getFields() ?? {})) {
    field.resolve = async () => {
      events.push(`${field.name} begins`);
      await turn();
      events.push(`${field.name} ends`);
      return 1;
    };
  }
}
/** What the last `run` has reserved: objects and reads. */
let reserved: unknown[] = [];
let rows: { a: number }[] = [];
const { rows: rowsField, wrong } = schema.getQueryType()?.getFields() ?? {};
if (rowsField) rowsField.resolve = () => rows;
if (wrong) wrong.resolve = async () => null;
const prepare = createDocuments(schema, []);
const execute = createExecution(schema, 'numbers');

/** Runs a document whose fields take a turn of the event loop each. */
function run(text: string, room?: Promise<void>) {
  events = [];
  reserved = [];
  const [prepared] = prepare(text).operations;
  if (!prepared) throw new Error('one operation');
  const onRun = () => void events.push('runs');
  const reserve = (...counts: unknown[]) => {
    reserved = counts;
    return room;
  };
  return execute({ prepared, variables: {}, context: {} as never, reserve, bytes: 0, onRun });
}

test.each([
  ['of a query beside each other', '{ a b }', ['runs', 'a begins', 'b begins', 'a ends', 'b ends']],
  ['of a mutation one after the other', 'mutation { a b }', ['runs', 'a begins', 'a ends', 'b begins', 'b ends']],
])('the fields %s are resolved, in their order', async (_which, text, expected) => {
  expect(await run(text)).toEqual({ dataJson: '{"a":1,"b":1}', errors: [] });
  expect(events).toEqual(expected);
});

test('what a field says after the answer is complete is not added to it', async () => {
  const { errors, dataJson } = await run('{ wrong a }');
  expect([dataJson, errors.length]).toEqual(['null', 1]);
  for (let count = 0; count < 5; count++) await turn();
  expect(events).toContain('a ends');
  expect(errors).toHaveLength(1);
});

test('nothing runs before there is room for the answer', async () => {
  const { promise: room, resolve: makeRoom } = Promise.withResolvers<void>();
  const answer = run('{ a }', room);
  for (let count = 0; count < 5; count++) await turn();
  expect(events).toEqual([]);
  makeRoom();
  expect(await answer).toEqual({ dataJson: '{"a":1}', errors: [] });
});

test('a frozen list is written once for the requests of a turn of the event loop, and not kept behind it', async () => {
  let reads = 0;
  const frozen = () => {
    const row = {
      get a() {
        return ++reads;
      },
    };
    return Object.freeze([row]) as typeof rows; // nothing changes it
  };
  rows = frozen();
  const list = new WeakRef(rows);
  const both = await Promise.all([run('{ rows(limit: 2) { a } }'), run('{ rows(limit: 2) { a } }')]);
  expect(both.map(({ dataJson }) => dataJson)).toEqual(Array(2).fill('{"rows":[{"a":1}]}'));
  rows = [];
  await turn();
  collectGarbage();
  expect(list.deref()).toBeUndefined();
});

test('a list that is not frozen is written anew for each request', async () => {
  rows = [{ a: 1 }];
  expect((await run('{ rows(limit: 2) { a } }')).dataJson).toBe('{"rows":[{"a":1}]}');
  rows.push({ a: 2 });
  expect((await run('{ rows(limit: 2) { a } }')).dataJson).toBe('{"rows":[{"a":1},{"a":2}]}');
});

test.each([
  ['{ rows(limit: 2) { a } again: rows(limit: 3) { a } }', 2],
  ['{ rows(limit: 2) { a } ...F } fragment F on Query { again: rows(limit: 3) { a } more: rows(limit: 2) { a } }', 3],
  ['mutation { a b }', 1], // one after another
])('%s has so many reads at once: %i', async (text, reads) => {
  await run(text);
  expect(reserved[1]).toBe(reads);
});
