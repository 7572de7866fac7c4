import { describe, expect, test } from 'vitest';
import { createPathFinder } from '../../src/gateway/http/path-finder.ts';
import type { Route } from '../../src/gateway/web/route.ts';

const route = (path: string, ...methods: string[]): Route => ({
  methods,
  path,
  takesBody: false,
  changes: false,
  isDeprecated: false,
  handle: async () => {},
});

const find = createPathFinder([
  route('/books', 'GET', 'HEAD'),
  route('/books', 'POST'),
  route('/books/{bookId}', 'GET'),
  route('/books/{bookId}/pages/{page}', 'GET'),
  route('/books.json', 'GET'),
  route('/books+{bookId}.json', 'GET'),
]);

describe('the place of a path', () => {
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
    expect(find(path)).toMatchObject({ path: known, params });
  });

  test.each(['/', '/books/', '/Books', '/books/7/', '/books//pages/8', '/books+7-json', '/bookss7.json', '/x/books'])(
    '%s is none',
    (path) => {
      expect(find(path)).toBeUndefined();
    },
  );

  test('has the methods of all of its routes', () => {
    expect([...(find('/books')?.routes.keys() ?? [])]).toEqual(['GET', 'HEAD', 'POST']);
  });
});

test('two routes of one path and method stop the start', () => {
  const twice = [route('/books', 'GET', 'HEAD'), route('/books', 'POST', 'HEAD')];
  expect(() => createPathFinder(twice)).toThrow('HEAD /books is served twice.');
});
