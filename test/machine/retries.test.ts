import { expect, test } from 'vitest';
import { describeEachEngine } from '../support/engines.ts';
import { useLibrary } from './library-gateway.ts';
import { countRows } from './services.ts';

describeEachEngine('an Idempotency-Key in the library', (engine) => {
  const library = useLibrary(engine);
  const headers = (key: string) => ({ 'idempotency-key': key });

  test('adds a book once, over either API', async () => {
    const { call, graphql, addBook } = library;
    const { authorId, ...book } = { title: 'Emma', genre: 'novel', authorId: 1, pages: 474 };
    await addBook(); // whose author has the id 1
    const first = await call('POST', '/books', { body: { authorId, ...book }, headers: headers('one') });
    const again = await call('POST', '/books', { body: { ...book, authorId }, headers: headers('one') });
    expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([201, null]);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(again.text).toBe(first.text);
    const mutation =
      'mutation { addBook(input: { title: "Emma", authorId: 1, genre: NOVEL, pages: 474 }) { id label } }';
    const byGraphql = await graphql(mutation, undefined, headers('one'));
    expect(byGraphql.json.data.addBook).toEqual({ id: String(first.json.id), label: `${first.json.id} Emma` });
    expect(byGraphql.headers.get('idempotency-replayed')).toBe('true');
  });

  test('names an author and a book without mixing them up', async () => {
    const { call } = library;
    const before = await countRows(library);
    const send = (path: string, body: object) => call('POST', path, { body, headers: headers('four') });
    const author = await send('/authors', { name: 'Jane' });
    const book = await send('/books', { title: 'Emma', authorId: author.json.id, genre: 'novel' });
    expect([author.status, book.status]).toEqual([201, 201]);
    expect(book.headers.get('idempotency-replayed')).toBeNull();
    expect((await send('/authors', { name: 'Jane' })).text).toBe(author.text);
    const after = await countRows(library);
    expect([after.authors, after.books]).toEqual([(before.authors ?? 0) + 1, (before.books ?? 0) + 1]);
  });

  test('tells of a retry also when a part of it was left to do', async () => {
    const { graphql } = library;
    const add = 'addAuthor(input: { name: "A" }) { id }';
    const first = await graphql(`mutation { ${add} }`, undefined, headers('six'));
    const again = await graphql(`mutation { ${add} more: ${add} }`, undefined, headers('six'));
    expect(again.json.data).toMatchObject(first.json.data);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  });
});
