import { describe, expect, test } from 'vitest';
import { sendRaw } from '../support/client.ts';
import { SQLITE } from '../support/engines.ts';
import { useLibrary } from './library-gateway.ts';

const METHODS = ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT'];

describe('the methods of the library', () => {
  const library = useLibrary(SQLITE, {}, ({ addBook }) => addBook());

  test('a preflight allows all of them', async () => {
    const headers = { origin: 'https://a.example', 'access-control-request-method': 'PATCH' };
    const answer = await library.call('OPTIONS', '/books/1/loan', { key: null, headers });
    expect(answer.status).toBe(204);
    const allowed = answer.headers.get('access-control-allow-methods') ?? '';
    expect(allowed.split(/\s*,\s*/).sort()).toEqual(METHODS);
  });

  test('CONNECT is told all of them', async () => {
    const answer = await sendRaw(library.port, 'CONNECT a.example:1 HTTP/1.1\r\nHost: a.example\r\n\r\n', {
      quietMs: 200,
    });
    expect(answer).toMatch(/^HTTP\/1\.1 405 /);
    expect(answer).toContain(`Allow: ${METHODS.join(', ')}\r\n`);
  });

  test('a body that DELETE does not take is not looked at', async () => {
    const { call } = library;
    await call('PUT', '/books/1/loan', { body: { reader: 'Ann' } });
    const answer = await call('DELETE', '/books/1/loan', {
      body: 'no JSON',
      headers: { 'content-type': 'text/plain' },
    });
    expect(answer.status).toBe(204);
    expect((await call('GET', '/books/1')).status).toBe(200);
  });

  test('no operation that changes something is unknown as one', () => {
    const changing = library.app.routes.filter(({ changes }) => changes);
    const operations = 'createAuthor createBook updateBook removeBook lendBook returnBook'.split(' ');
    expect(changing.map(({ operation }) => operation)).toEqual(operations);
  });
});
