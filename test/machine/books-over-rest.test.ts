import { expect, it, test } from 'vitest';
import { describeEachEngine } from '../support/engines.ts';
import { unlessShed } from '../support/load.ts';
import { type LibraryCall, useLibrary } from './library-gateway.ts';

const GENRES = ['novel', 'essay', 'poetry'] as const;
const LANGUAGES = ['en', 'de', undefined] as const;

/** Every genre in every language, twice. */
const STOCK = Array.from({ length: 18 }, (_, index) => ({
  title: `Book ${index + 1}`,
  genre: GENRES[index % 3] as string,
  ...(LANGUAGES[Math.floor(index / 3) % 3] && { language: LANGUAGES[Math.floor(index / 3) % 3] }),
}));

const titlesOf = (books: readonly { title: string }[]) => books.map(({ title }) => title);

describeEachEngine('books over REST', (engine) => {
  const library = useLibrary(engine, { BODY_LIMIT: '1024' }, async ({ call, addBook }) => {
    const { json: author } = await unlessShed(() => call('POST', '/authors', { body: { name: 'Anne Brontë' } }));
    for (const book of STOCK) await addBook({ ...book, authorId: author.id });
  });

  test('a book is created, told in compact JSON, and found under its Location', async () => {
    const { call } = library;
    const body = { title: 'Faust: Eine Tragödie', authorId: 1, genre: 'poetry', pages: 135 };
    const { status, headers, text, json } = await call('POST', '/books', { body });
    expect([status, headers.get('location')]).toEqual([201, `/api/v2/books/${json.id}`]);
    expect(text).toBe(
      `{"id":${json.id},"title":"Faust: Eine Tragödie","genre":"poetry","pages":135,"author":{"id":1,"name":"Anne Brontë"}}`,
    );
    expect((await call('GET', `/books/${json.id}`)).json.title).toBe(body.title);
  });

  it.each([
    ['genre=essay', STOCK.filter(({ genre }) => genre === 'essay')],
    ['language=de', STOCK.filter(({ language }) => language === 'de')],
    ['genre=novel&language=en', STOCK.filter(({ genre, language }) => genre === 'novel' && language === 'en')],
    ['language=nl', []],
    ['language=en%20', []],
    ['language=EN', []],
  ])('the list of %s', async (query, expected) => {
    const { json } = await library.call('GET', `/books?${query}&limit=18`);
    expect(titlesOf(json).filter((title) => title.startsWith('Book'))).toEqual(titlesOf(expected));
  });

  test('a boolean is created, told, and a filter', async () => {
    const { call } = library;
    const add = async (isLent: boolean) => {
      const body = { title: `Lent: ${isLent}`, authorId: 1, genre: 'poetry', language: 'bo', isLent };
      const { text, json } = await call('POST', '/books', { body });
      expect(text).toContain(`"isLent":${isLent},`);
      return json;
    };
    const books = [await add(false), await add(true)];
    for (const [query, expected] of [
      ['', books],
      ['&isLent=false', books.slice(0, 1)],
      ['&isLent=true', books.slice(1)],
    ] as const) {
      expect((await call('GET', `/books?language=bo${query}`)).json).toEqual(expected);
    }
  });

  test('a filter that is no plain word is the same on the next page', async () => {
    const { call, request, addBook, url } = library;
    const language = 'a&limit=1 b+c%20=é/#?';
    for (const title of ['One', 'Two']) await addBook({ title, language });
    const { headers } = await call('GET', `/books?limit=1&language=${encodeURIComponent(language)}`);
    const [, next = ''] = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '') ?? [];
    expect(titlesOf((await request(next.replace(url, ''))).json)).toEqual(['Two']);
  });

  const book = { title: 'x', authorId: 1, genre: 'novel' };
  it.each<[method: string, path: string, call: LibraryCall, status: number, code: string, message: string | RegExp]>([
    ['GET', '/book', {}, 404, 'not_found', /^GET \/api\/v2\/book does not exist\. Did you mean \/api\/v2\/books\?/],
    ['POST', '/books/1/loan', {}, 405, 'method_not_allowed', '/api/v2/books/{bookId}/loan allows only DELETE, PUT.'],
    ['GET', '/books?language=e', {}, 400, 'bad_request', /^language=e is not allowed: .*2 to 35 characters\.$/],
    ['GET', '/books?isLent=1', {}, 400, 'bad_request', 'isLent=1 is not allowed: true or false.'],
    ['GET', '/books?isLent=TRUE', {}, 400, 'bad_request', 'isLent=TRUE: did you mean true?'],
    ['POST', '/books', { body: { ...book, isLent: 1 } }, 400, 'bad_request', 'isLent must be true or false, not 1.'],
    ['POST', '/books', { body: { ...book, pages: 0 } }, 400, 'bad_request', 'pages must be an integer from 1 to 9999.'],
    [
      'POST',
      '/books',
      { body: { ...book, pages: 'x' } },
      400,
      'bad_request',
      /^pages must be an integer from 1 to 9999, /,
    ],
    ['POST', '/books', { body: { ...book, authorId: 999 } }, 400, 'bad_request', 'authorId: no author has this id.'],
    ['PUT', '/books/1/loan', { body: { reader: '' } }, 400, 'bad_request', 'reader must have 1 to 100 characters.'],
    ['PUT', '/books/999999/loan', { body: { reader: 'Ann' } }, 404, 'not_found', 'No book has this id.'],
    ['PUT', '/books/1/loan', { body: 'x'.repeat(1025) }, 413, 'payload_too_large', /1024 bytes/],
    ['PATCH', '/books/999999', { body: { pages: 1 } }, 404, 'not_found', 'No book has this id.'],
    ['PATCH', '/books/1', { body: { genre: null } }, 400, 'bad_request', /^genre must be one of .*, not null\.$/],
    ['PATCH', '/books/1', {}, 415, 'unsupported_media_type', /application\/json/],
    ['DELETE', '/books/999999', {}, 404, 'not_found', 'No book has this id.'],
  ])('%s %s %j answers %i %s', async (method, path, call, status, code, message) => {
    const answer = await library.call(method, path, call);
    expect(answer.json).toEqual({
      code,
      message: typeof message === 'string' ? message : expect.stringMatching(message),
      status,
    });
    expect(answer.status).toBe(status);
    if (status === 405) expect(answer.headers.get('allow')).toMatch(/^[A-Z]+(?:, [A-Z]+)*$/);
  });

  test('a book is changed where it is asked for, then removed', async () => {
    const { call, addBook } = library;
    const book = await addBook({ pages: 7, language: 'en' });
    let expected = book;
    for (const [body, changed] of [
      [{ title: 'Emma: A Novel', isLent: false }],
      [{ pages: 474, language: 'de', id: 1 }, { pages: 474 }],
      [{}],
    ]) {
      expected = { ...expected, ...(changed ?? body) };
      const { status, json } = await call('PATCH', `/books/${book.id}`, { body });
      expect([status, json]).toEqual([200, expected]);
    }
    const { status, text } = await call('DELETE', `/books/${book.id}`);
    expect([status, text]).toEqual([204, '']);
    for (const method of ['GET', 'DELETE']) expect((await call(method, `/books/${book.id}`)).status).toBe(404);
    expect((await call('PATCH', `/books/${book.id}`, { body: {} })).status).toBe(404);
  });

  test('a book is lent, lent on and comes back: 204 has no content at all', async () => {
    const { call, addBook } = library;
    const { id } = await addBook();
    const lent = await call('PUT', `/books/${id}/loan`, { body: { reader: 'Ann' } });
    expect([lent.status, lent.text]).toEqual([200, '{"reader":"Ann"}']);
    expect((await call('GET', `/books/${id}`)).json.loan).toEqual({ reader: 'Ann' });
    expect((await call('PUT', `/books/${id}/loan`, { body: { reader: 'Bob' } })).text).toBe('{"reader":"Bob"}');
    const { status, text, headers } = await call('DELETE', `/books/${id}/loan`);
    expect([status, text, headers.get('content-type'), headers.get('content-length')]).toEqual([204, '', null, null]);
    expect((await call('GET', `/books/${id}`)).json).not.toHaveProperty('loan');
    expect((await call('DELETE', `/books/${id}/loan`)).json.message).toBe('Nobody has this book.');
  });
});
