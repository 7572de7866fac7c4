import { expect, it, test } from 'vitest';
import { send } from '../support/client.ts';
import { describeEachEngine } from '../support/engines.ts';
import { useLibrary } from './library-gateway.ts';

const GENRES = ['NOVEL', 'ESSAY', 'POETRY'] as const;
const LANGUAGES = ['en', 'de', null] as const;

const ADD = 'mutation ($input: NewBookInput!) { addBook(input: $input) { id title genre language pages } }';

/** Every genre in every language, twice. */
const STOCK = Array.from({ length: 18 }, (_, index) => ({
  title: `Book ${index + 1}`,
  genre: GENRES[index % 3] as string,
  language: LANGUAGES[Math.floor(index / 3) % 3] as string | null,
  pages: index === 0 ? null : index,
}));

const titlesOf = (books: readonly { title: string }[]) => books.map(({ title }) => title);

describeEachEngine('books over GraphQL', (engine) => {
  const library = useLibrary(engine, { BODY_LIMIT: '1024' }, async ({ query }) => {
    await query('mutation { addAuthor(input: { name: "Anne Brontë" }) { id } }');
    for (const { genre, language, pages, title } of STOCK) {
      // What is optional may be absent or null, which is the same.
      const input = { title, genre, authorId: '1', ...(language !== null && { language }), pages };
      const { addBook } = await query(ADD, { input });
      expect(addBook).toEqual({ id: expect.any(String), title, genre, language, pages });
    }
  });

  it.each([
    [{}, STOCK],
    [{ genre: 'ESSAY' }, STOCK.filter(({ genre }) => genre === 'ESSAY')],
    [{ language: 'de' }, STOCK.filter(({ language }) => language === 'de')],
    [{ genre: 'NOVEL', language: 'en' }, STOCK.filter(({ genre, language }) => genre === 'NOVEL' && language === 'en')],
    [{ genre: null, language: 'nl' }, []],
  ])('the pages of %j follow each other by "after" until the end', async (filters, expected) => {
    const titles: string[] = [];
    const list = `query ($genre: Genre, $language: String, $after: ID) {
      books(genre: $genre, language: $language, after: $after, limit: 2) { id title }
    }`;
    for (let after: string | null = null, count = 2; count === 2; ) {
      const { books } = await library().query(list, { ...filters, after });
      titles.push(...titlesOf(books));
      count = books.length;
      after = books.at(-1)?.id ?? null;
    }
    expect(titles).toEqual(titlesOf(expected));
  });

  test('a boolean is added, given, and a filter', async () => {
    const { query } = library();
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
    const { query } = library();
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
    const { query } = library();
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
    ['{ books(limit: 101) { id } }', 'BAD_USER_INPUT', /^limit must be an integer from 1 to 100/],
    ['{ books(language: "e") { id } }', 'BAD_USER_INPUT', /^language must have 2 to 35 characters/],
    ['{ book(id: "01") { id } }', 'BAD_USER_INPUT', /^id must be a decimal integer of 64 bits/],
    ['mutation { lendBook(id: 1, input: { reader: "" }) { reader } }', 'BAD_USER_INPUT', /reader must have 1 to 100/],
    ['{ books(genre: novel) { id } }', 'GRAPHQL_VALIDATION_FAILED', /Did you mean the enum value "NOVEL"/],
    ['{ pets { id } }', 'GRAPHQL_VALIDATION_FAILED', /Cannot query field "pets"/],
    ['{ books { author } }', 'GRAPHQL_VALIDATION_FAILED', /must have a selection of subfields/],
    ['{ books { label { id } } }', 'GRAPHQL_VALIDATION_FAILED', /must not have a selection/],
    ['{ books', 'GRAPHQL_PARSE_FAILED', /Syntax Error/],
  ])('%s is refused: %s', async (query, code, message) => {
    const { json } = await library().graphql(query);
    expect(json.errors).toMatchObject([{ message: expect.stringMatching(message), extensions: { code } }]);
  });

  it.each([
    ['without a key', 401, 'UNAUTHENTICATED', { authorization: 'Bearer ' }, '{}'],
    ['as a text', 415, 'BAD_USER_INPUT', { 'content-type': 'text/plain' }, '{}'],
    ['larger than the limit', 413, 'PAYLOAD_TOO_LARGE', {}, `{"query":"${'x'.repeat(1024)}"}`],
  ])('a request %s is refused: %i', async (_what, status, code, headers, body) => {
    const { url, key } = library();
    const common = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await send(`${url}/graphql`, { method: 'POST', headers: { ...common, ...headers }, body });
    expect([answer.status, answer.json.errors[0].extensions.code]).toEqual([status, code]);
  });

  test('a mutation over GET is refused: 405', async () => {
    const query = encodeURIComponent('mutation { returnBook(id: 1) { reader } }');
    const { status, headers } = await library().request(`/graphql?query=${query}`);
    expect([status, headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('an Idempotency-Key that came with another input is refused', async () => {
    const headers = { 'idempotency-key': 'one' };
    const add = (name: string) =>
      library().graphql(`mutation { addAuthor(input: { name: "${name}" }) { id } }`, {}, headers);
    expect((await add('Jane')).json.errors).toBeUndefined();
    expect((await add('Anne')).json.errors).toMatchObject([{ extensions: { code: 'IDEMPOTENCY_MISMATCH' } }]);
  });
});
