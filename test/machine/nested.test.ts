import { expect, test } from 'vitest';
import { describeEachEngine } from '../support/engines.ts';
import { watchStatements } from '../support/statements.ts';
import { type LibraryGateway, useLibrary } from './library-gateway.ts';

/** The statements about a table that `work` makes a gateway send. */
async function statementsAbout({ database }: LibraryGateway, table: string, work: () => Promise<unknown>) {
  const sent: string[] = [];
  watchStatements(database, (sql) => sent.push(sql));
  await work();
  return sent.filter((sql) => new RegExp(`\\b${table}\\b`).test(sql));
}

describeEachEngine('objects within objects', (engine) => {
  const library = useLibrary(engine, {}, async ({ addBook, call }) => {
    await addBook({ title: 'Emma: A Novel', author: 'Jane Austen', language: 'en' });
    for (let index = 2; index <= 15; index++) await addBook({ author: `Author ${index}`, genre: 'essay' });
    await call('PUT', '/books/2/loan', { body: { reader: 'Ann' } });
  });

  test('REST writes them as compact JSON and leaves out what is null, at every depth', async () => {
    const { call } = library;
    expect((await call('GET', '/books/1')).text).toBe(
      '{"id":1,"title":"Emma: A Novel","author":{"id":1,"name":"Jane Austen"},"shelf":{"row":"N","place":1,"wing":"en"}}',
    );
    expect((await call('GET', '/books/2')).text).toBe(
      '{"id":2,"title":"Emma","author":{"id":2,"name":"Author 2"},"shelf":{"row":"E","place":2},"loan":{"reader":"Ann"}}',
    );
  });

  test('GraphQL gives what is asked for, and null where there is nothing', async () => {
    const fields = 'id label author { name id } shelf { wing place row } loan { reader } ';
    const data = await library.query(`{ first: book(id: 1) { ${fields} } second: book(id: 2) { ${fields} } }`);
    expect(data).toEqual({
      first: {
        id: '1',
        label: '1 Emma: A Novel',
        author: { name: 'Jane Austen', id: '1' },
        shelf: { wing: 'en', place: 1, row: 'N' },
        loan: null,
      },
      second: {
        id: '2',
        label: '2 Emma',
        author: { name: 'Author 2', id: '2' },
        shelf: { wing: null, place: 2, row: 'E' },
        loan: { reader: 'Ann' },
      },
    });
  });

  test('the authors of a page of books are read by one statement, however many they are', async () => {
    const { query, call } = library;
    const byGraphql = () => query('{ books(limit: 15) { id author { name } } }');
    const byRest = () => call('GET', '/books?limit=15');
    for (const page of [byGraphql, byRest]) expect(await statementsAbout(library, 'authors', page)).toHaveLength(1);
    const names = (books: any[]) => books.map(({ author }) => author.name);
    expect(names((await byRest()).json)).toEqual(names((await byGraphql()).books));
    expect(new Set(names((await byRest()).json)).size).toBe(15);
  });

  test('the author of books that share one is read once', async () => {
    const { addBook, query } = library;
    const { id } = await addBook({ author: 'Anne Brontë' });
    const { author } = (await query('query ($id: ID!) { book(id: $id) { author { id } } }', { id: String(id) })).book;
    const input = { title: 'Agnes Grey', authorId: author.id, genre: 'POETRY' };
    await query('mutation ($input: NewBookInput!) { addBook(input: $input) { id } }', { input });
    const sent = await statementsAbout(library, 'authors', () =>
      query('query ($after: ID) { books(after: $after) { author { name } } }', { after: String(id - 1) }),
    );
    expect(sent).toEqual([expect.not.stringContaining('?,')]);
  });

  test('a field that only GraphQL has is nowhere in REST', async () => {
    const { call } = library;
    for (const path of ['/books', '/books/1', '/books/1/title', '/openapi.json']) {
      expect((await call('GET', path)).text).not.toContain('label');
    }
  });

  test('an object that cannot be loaded is an error of its field, which may not be null: GraphQL says where, REST refuses', async () => {
    const { database, query, graphql, call } = library;
    const book = { title: 'Lost', author_id: 999_999, genre: 'novel' };
    await database.knex('books').insert(book);
    const [{ id }] = await database.knex('books').where({ title: 'Lost' }).select('id');
    const variables = { id: String(id) };
    const { json } = await graphql('query ($id: ID!) { book(id: $id) { title author { name } } }', variables);
    expect(json.data).toEqual({ book: null });
    expect(json.errors).toMatchObject([{ path: ['book', 'author'], extensions: { code: 'BAD_USER_INPUT' } }]);
    expect((await call('GET', `/books/${id}`)).json).toMatchObject({ status: 400, code: 'bad_request' });
    expect((await query('query ($id: ID!) { book(id: $id) { title } }', variables)).book).toEqual({ title: 'Lost' });
    await database.knex('books').where({ id }).delete();
  });

  test('what a request may ask for is counted by the name of its type', async () => {
    const books = Array.from({ length: 5 }, (_, index) => `b${index}: books(limit: 100) { author { id } }`);
    const { json } = await library.graphql(`{ ${books.join(' ')} authors(limit: 1) { id } }`);
    const message = 'The request may touch 501 authors; the limit is 500.';
    expect(json.errors).toMatchObject([{ message, extensions: { code: 'MAX_COST_EXCEEDED' } }]);
  });
});
