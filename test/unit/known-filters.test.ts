import { expect, test } from 'vitest';
import { toPageQuery } from '../../src/gateway/schema/connection.ts';
import { createContext } from '../../src/gateway/schema/context.ts';
import type { Stores } from '../../src/gateway/store/store.ts';
import { defineTable } from '../../src/gateway/store/table.ts';

const BOOKS = defineTable('books', { shelf: { kind: 'text', filter: true }, title: { kind: 'text' } });

/** The store of a request, and the queries that reach the table. */
function listen() {
  const queries: unknown[] = [];
  const list = async (query: unknown) => queries.push(query) > 0 && [];
  const stores = (() => ({ list })) as unknown as Stores; // all that a list takes
  const { store } = createContext(stores, { keyId: '1', ownerId: '1', mayWrite: false }, {}, 0);
  return { books: store(BOOKS), queries };
}

test('the type check refuses a filter that the table does not have: its list would leave it out', async () => {
  const { books, queries } = listen();
  const query = { limit: 3, after: null, shelf: 'A', title: 'Emma' };
  // @ts-expect-error: title is no filter
  await books.list(query);
  // @ts-expect-error: nor is it one of a connection
  await books.list(toPageQuery({ first: 3, title: 'Emma' }));
  await books.list({ limit: 3, after: null });
  expect(queries).toHaveLength(3);
});
