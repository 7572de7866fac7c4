import { expect, test } from 'vitest';
import { toPageQuery } from '../../src/gateway/schema/connection.ts';
import { ANSWER_BYTES_MAX, createContext } from '../../src/gateway/schema/context.ts';
import type { CountRead } from '../../src/gateway/store/keyset-list.ts';
import type { Stores } from '../../src/gateway/store/store.ts';
import { defineTable } from '../../src/gateway/store/table.ts';

const BOOKS = defineTable('books', { shelf: { kind: 'text', filter: true }, title: { kind: 'text' } });

/** The books of a request, of which each has one byte. */
function booksOfRequest() {
  const list = async ({ limit }: { limit: number }, _deadline: number, countRead: CountRead) => {
    countRead(limit);
    return [];
  };
  const stores = (() => ({ list })) as unknown as Stores; // all that a list takes
  return createContext(stores, { keyId: '1', ownerId: '1', mayWrite: false }, {}, 0).store(BOOKS);
}

test('all lists of a request read as much as an answer may have; one more byte is refused', async () => {
  const books = booksOfRequest();
  for (const _half of [1, 2]) await books.list({ limit: ANSWER_BYTES_MAX / 2, after: null });
  await expect(books.list({ limit: 1, after: null })).rejects.toMatchObject({ code: 'bad_request' });
});

test('the type check refuses a filter that the table does not have: its list would leave it out', async () => {
  const books = booksOfRequest();
  const query = { limit: 3, after: null, shelf: 'A', title: 'Emma' };
  // @ts-expect-error: title is no filter
  expect(await books.list(query)).toEqual([]);
  // @ts-expect-error: nor is it one of a connection
  expect(await books.list(toPageQuery({ first: 3, title: 'Emma' }))).toEqual([]);
});
