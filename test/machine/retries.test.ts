import { expect, test } from 'vitest';
import { describeEachEngine } from '../support/engines.ts';
import { useLibrary } from './library-gateway.ts';
import { countRows } from './services.ts';

describeEachEngine('an Idempotency-Key in the library', (engine) => {
  const library = useLibrary(engine);
  const headers = (key: string) => ({ 'idempotency-key': key });

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
