import { describe, expect, test } from 'vitest';
import type { Answer, Route } from '../../src/gateway/http/call.ts';
import { createNotFound, createRouter } from '../../src/gateway/http/router.ts';
import { callOf } from '../support/calls.ts';

const answer = async (): Promise<Answer> => ({ status: 200 });
const route = (path: string, ...methods: string[]): Route => ({
  ...{ path, methods, takesBody: false, changes: false, isDeprecated: false },
  headers: { Link: path },
  handle: answer,
});
const page = { path: '/books', operation: 'page', sharesPath: true, handle: answer };
const parts = { basePath: '/v1', notFound: createNotFound([], '/docs') };

const find = createRouter({
  ...parts,
  routes: [
    route('/books', 'GET', 'HEAD'),
    route('/books', 'POST'),
    route('/books/{bookId}', 'GET'),
    route('/books/{bookId}/pages/{page}', 'GET'),
    route('/books.json', 'GET'),
    route('/books+{bookId}.json', 'GET'),
  ],
  open: [
    page,
    { path: '/open', operation: 'open', handle: answer },
    { path: '/v1/open', operation: 'open', handle: answer },
  ],
});

describe('the route of a path', () => {
  test.each<readonly [string, string, Readonly<Record<string, string>>]>([
    ['/books', '/books', {}],
    ['/books/7', '/books/{bookId}', { bookId: '7' }],
    ['/books/7/pages/8', '/books/{bookId}/pages/{page}', { bookId: '7', page: '8' }],
    ['/books.json', '/books.json', {}],
    ['/books+7.json', '/books+{bookId}.json', { bookId: '7' }],
    ['/books/a%20b%2Fc%C3%A9', '/books/{bookId}', { bookId: 'a b/cé' }],
    ['/books/%zz', '/books/{bookId}', { bookId: '%zz' }],
    ['/books/%C3', '/books/{bookId}', { bookId: '%C3' }],
  ])('%s is %s', (path, known, params) => {
    expect(find(callOf({ path }))).toMatchObject({ route: { path: known }, params, needsKey: true });
  });

  test.each([
    '/',
    '/books/',
    '/Books',
    '/books/7/',
    '/books//pages/8',
    '/books+7-json',
    '/bookss7.json',
    '/x/books',
    '/V1/open',
    '/v1x',
    '/v2/open',
  ])('%s is none', (path) => {
    expect(find(callOf({ path }))).toMatchObject({ refusal: { code: 'not_found' }, needsKey: false });
  });

  test.each([
    ['DELETE', '/books', 'GET, HEAD, POST', true],
    ['POST', '/open', 'GET, HEAD', false],
    ['POST', '/v1/open', 'GET, HEAD', true],
  ])('%s %s is refused with all methods of the path: %s; behind a key: %s', (method, path, allow, needsKey) => {
    expect(find(callOf({ method, path }))).toMatchObject({
      refusal: { code: 'method_not_allowed', headers: { Allow: allow } },
      needsKey,
    });
  });

  test.each(['/v1', '/v1/', '/v1/unknown'])(
    '%s, which is below the base path, needs a key though it is none',
    (path) => {
      expect(find(callOf({ path }))).toMatchObject({ refusal: { code: 'not_found' }, needsKey: true });
    },
  );

  test.each([
    ['GET', 'text/html', 'page'],
    ['HEAD', 'text/html', 'page'],
    ['GET', 'application/json', 'api'],
    ['GET', 'application/graphql-response+json, text/html;q=0.9', 'api'],
    ['POST', 'text/html', 'api'],
    ['DELETE', 'text/html', 'none'],
  ])('a path of a page and of an API, %s for %s: %s, and caches know by what', (method, accept, served) => {
    const { route, open, varies } = find(callOf({ method, path: '/books', headers: { accept } }));
    expect(open === page ? 'page' : route ? 'api' : 'none').toBe(served);
    expect(varies).toEqual({ Vary: 'Accept' });
  });
});

test('two routes of one path and method stop the start', () => {
  const routes = [route('/books', 'GET', 'HEAD'), route('/books', 'POST', 'HEAD')];
  expect(() => createRouter({ ...parts, routes, open: [] })).toThrow('HEAD /books is served twice.');
});
