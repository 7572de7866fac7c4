import { expect, test } from 'vitest';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';

// A column of SQLite keeps a value of any type, which another program may have written: https://www.sqlite.org/datatype3.html
test.each([
  ['a text for an integer', "'c', 'abc'", 'categoryId'],
  ['a fraction', "'c', 1.5", 'categoryId'],
  ['a number that is too large', "'c', 1e300", 'categoryId'],
  ['bytes for an integer', "'c', x'05'", 'categoryId'],
  ['bytes for a text', "x'616263', 1", 'name'],
])('%s is a fault of ours in both APIs, and no part of an answer', async (_what, values, field) => {
  const { database, request, graphql, logs } = await startGateway(SQLITE);
  await database.knex.raw(`INSERT INTO pets (name, category_id) VALUES (${values})`);
  const { status, json: list, headers } = await request('/v1/pets');
  expect([status, list.code]).toEqual([500, 'internal_error']);
  const requestId = headers.get('x-request-id');
  const cause = logs.find((line) => line.requestId === requestId && line.level === 50);
  expect(cause).toMatchObject({ err: { message: expect.stringMatching(/^A resolver gave a value that is no /) } });
  const { json } = await graphql('{ pets { id name categoryId } }');
  expect(json.errors).toMatchObject([{ extensions: { code: 'INTERNAL_SERVER_ERROR' }, path: ['pets', 0, field] }]);
});
