import { describe, expect, it, test } from 'vitest';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { servedPages } from '../support/served-pages.ts';
import { startLibrary, useLibrary } from './library-gateway.ts';

/** Words that only the pet store has. */
const OF_THE_STORE = /\bpets?\b|animal/i;

describe('the library speaks of itself only', () => {
  const library = useLibrary(SQLITE, {}, ({ addBook }) => addBook());

  test('on every page that a browser gets to', async () => {
    const pages = await servedPages(library.url);
    expect(pages.map(({ path }) => path)).toEqual(expect.arrayContaining(['/', '/docs', '/graphql']));
    for (const { path, html } of pages) expect([path, html.match(OF_THE_STORE)]).toEqual([path, null]);
    expect(pages.filter(({ html }) => html.includes('Town Library'))).toHaveLength(pages.length);
  });

  test('in whatever is open, the scripts of the pages and both descriptions included', async () => {
    const { app, request } = library;
    for (const { path } of app.open.filter((open) => !/graphiql/.test(open.path))) {
      expect([path, (await request(path)).text.match(OF_THE_STORE)]).toEqual([path, null]);
    }
  });

  test('in the tabs of the explorer, which are its own', async () => {
    const { text } = await library.request('/graphql', { headers: { accept: 'text/html' } });
    for (const part of ['mutation Lend', 'Five books']) expect(text).toContain(part);
  });

  it.each([
    ['GET', '/'],
    ['GET', '/books/99'],
    ['GET', '/books?genre=x'],
    ['PATCH', '/books'],
    ['POST', '/books'],
    ['PUT', '/books/1/loan'],
  ])('in the refusal of %s %s', async (method, path) => {
    const { status, text } = await library.call(method, path);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(text).not.toMatch(OF_THE_STORE);
  });

  test('in the refusals of GraphQL', async () => {
    for (const query of ['{ pets { id } }', '{ books(limit: 0) { id } }', '{ book(id: "x") { id } }', '{']) {
      const { json } = await library.graphql(query);
      expect(json.errors).toHaveLength(1);
      expect(JSON.stringify(json).replace('\\"pets\\"', '')).not.toMatch(OF_THE_STORE);
    }
  });
});

describe('two services in one process', () => {
  test('do not see each other', async () => {
    const store = await startGateway(SQLITE);
    const library = await startLibrary(SQLITE);
    const { id } = await library.addBook();
    await store.createPet({ name: 'Rex', categoryId: 1 });

    expect((await store.request(`/v1/books/${id}`)).status).toBe(404);
    expect((await store.request(`/api/v2/books/${id}`)).status).toBe(404);
    expect((await library.request('/v1/pets')).status).toBe(404);
    expect((await library.request('/v1/pets', { headers: { authorization: '' } })).status).toBe(404);
    expect((await store.graphql('{ books { id } }')).status).toBe((await library.graphql('{ pets { id } }')).status);
    expect((await store.graphql('{ pets { name } }')).json).toEqual({ data: { pets: [{ name: 'Rex' }] } });
    expect(await library.query('{ books { title } }')).toEqual({ books: [{ title: 'Emma' }] });
  });

  test('take each only keys of their own', async () => {
    const [store, library] = [await startGateway(SQLITE), await startLibrary(SQLITE)];
    expect((await library.call('GET', '/books', { key: store.key })).status).toBe(401);
    expect((await store.request('/v1/pets', { headers: { authorization: `Bearer ${library.key}` } })).status).toBe(401);
  });
});
