import { expect, it, test } from 'vitest';
import { describeEachEngine } from '../support/engines.ts';
import { useLibrary } from './library-gateway.ts';

const ADD = 'mutation ($input: NewBookInput!) { addBook(input: $input) { id title genre language pages } }';

describeEachEngine('books over GraphQL', (engine) => {
  const library = useLibrary(engine, {}, ({ addBook }) => addBook({ title: 'Book 1' }));

  test('a boolean is added, given, and a filter', async () => {
    const { query } = library;
    const add = 'mutation ($input: NewBookInput!) { addBook(input: $input) { title isLent } }';
    const books = [false, true].map((isLent) => ({ title: `Lent: ${isLent}`, isLent }));
    for (const book of books) {
      const input = { ...book, genre: 'ESSAY', authorId: '1', language: 'bo' };
      expect((await query(add, { input })).addBook).toEqual(book);
    }
    const fields = '{ title isLent }';
    const lists = `{ all: books(language: "bo") ${fields} no: books(language: "bo", isLent: false) ${fields}
      yes: books(language: "bo", isLent: true) ${fields} }`;
    expect(await query(lists)).toEqual({ all: books, no: books.slice(0, 1), yes: books.slice(1) });
  });

  test('a book is had by its id, lent, and comes back', async () => {
    const { query } = library;
    const book = () => query('{ book(id: 1) { title loan { reader } } none: book(id: 999999) { id } }');
    expect(await query('mutation { lendBook(id: 1, input: { reader: "Ann" }) { reader } }')).toEqual({
      lendBook: { reader: 'Ann' },
    });
    expect(await book()).toEqual({ book: { title: 'Book 1', loan: { reader: 'Ann' } }, none: null });
    const back = 'mutation { first: returnBook(id: 1) { reader } again: returnBook(id: 1) { reader } }';
    expect(await query(back)).toEqual({ first: { reader: 'Ann' }, again: null });
    expect((await book()).book.loan).toBeNull();
    expect(await query('mutation { lendBook(id: 999999, input: { reader: "Ann" }) { reader } }')).toEqual({
      lendBook: null,
    });
  });

  test('a book is changed where there is a value, and removed: then there is none', async () => {
    const { query } = library;
    const input = { title: 'Emma', genre: 'NOVEL', authorId: '1', language: 'en', pages: 474 };
    const { id, ...added } = (await query(ADD, { input })).addBook;
    const update = `mutation ($id: ID!, $input: BookChangesInput!) { updateBook(id: $id, input: $input) { title genre language pages } }`;
    const changes = { title: null, genre: 'ESSAY', isLent: null };
    expect(await query(update, { id, input: changes })).toEqual({ updateBook: { ...added, genre: 'ESSAY' } });
    const remove =
      'mutation ($id: ID!) { first: removeBook(id: $id) { title genre } again: removeBook(id: $id) { title } }';
    expect(await query(remove, { id })).toEqual({ first: { title: 'Emma', genre: 'ESSAY' }, again: null });
    expect(await query(update, { id, input: changes })).toEqual({ updateBook: null });
  });

  it.each([
    ['{ books(language: "e") { id } }', 'BAD_USER_INPUT', /^language must have 2 to 35 characters/],
    ['mutation { lendBook(id: 1, input: { reader: "" }) { reader } }', 'BAD_USER_INPUT', /reader must have 1 to 100/],
  ])('%s is refused: %s', async (query, code, message) => {
    const { json } = await library.graphql(query);
    expect(json.errors).toMatchObject([{ message: expect.stringMatching(message), extensions: { code } }]);
  });
});
