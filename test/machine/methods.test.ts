import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { shareLimitsOf } from '../../src/gateway/http/admission.ts';
import { sendRaw } from '../support/client.ts';
import { afterFile, SQLITE } from '../support/engines.ts';
import { eventually } from '../support/load.ts';
import { useLibrary } from './library-gateway.ts';

const MB = 2 ** 20;
/** One key may have half of what bodies may take, in bodies of 4 MB. */
const HELD = Math.floor(shareLimitsOf(1, 65_536).bytes / 2 / (4 * MB));
const SENT = HELD + 8;
const METHODS = ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT'];

describe('the methods of the library', () => {
  const library = useLibrary(SQLITE, { BODY_LIMIT: String(4 * MB) }, ({ addBook }) => addBook());

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

  test('bodies of PUT are held like those of POST: a key that announces too many is refused, another is not', async () => {
    const { call, keys, port, key } = library;
    const { key: other } = await keys.create({ name: 'other', expiresAt: null });
    const header = `PUT /api/v2/books/1/loan HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${4 * MB}\r\n\r\n`;
    const sockets = Array.from({ length: SENT }, () => connect({ port, host: '127.0.0.1' }).on('error', () => {}));
    afterFile(() => sockets.forEach((socket) => void socket.destroy()));
    let refused = '';
    for (const socket of sockets) {
      socket.on('data', (part) => {
        refused += part;
      });
      socket.write(header);
    }
    const refusals = () => refused.split('HTTP/1.1 429 ').length - 1;
    await eventually(() => refusals() === SENT - HELD, 10_000, `${HELD} bodies are held, and no more`);
    const body = JSON.stringify({ name: 'x'.repeat(3 * MB) });
    const add = (by: string) => call('POST', '/authors', { body, key: by });
    expect((await add(key)).json).toMatchObject({ code: 'too_many_requests', status: 429 });
    expect((await add(other)).status).toBe(201);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => (await add(key)).status === 201, 10_000, 'the room is there again');
  });

  test('no operation that changes something is unknown as one', () => {
    const changing = library.app.routes.filter(({ changes }) => changes);
    const operations = 'createAuthor createBook updateBook removeBook lendBook returnBook'.split(' ');
    expect(changing.map(({ operation }) => operation)).toEqual(operations);
  });
});
