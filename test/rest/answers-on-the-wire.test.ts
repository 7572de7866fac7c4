import { expect, it, test } from 'vitest';
import { sendRaw } from '../support/client.ts';
import { SQLITE } from '../support/engines.ts';
import { eventually, petBody } from '../support/load.ts';
import { useGateway } from './checked-gateway.ts';

const gateway = useGateway(SQLITE);

it.each([1, 3])('a pipelined CONNECT is refused after the answers to the %i requests before it', async (requests) => {
  const body = petBody('before');
  const create = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const bytes = `${create.repeat(requests)}CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n`;
  const text = await sendRaw(gateway.port, bytes, { answers: requests + 1 });
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
  expect(statuses).toEqual([...Array(requests).fill(201), 405]);
  expect(text).toContain('This is no proxy.');
});

test('HEAD of GraphiQL answers as GET', async () => {
  const init = { headers: { accept: 'text/html' } };
  const got = await gateway.request('/graphql', init);
  const head = await gateway.request('/graphql', { ...init, method: 'HEAD' });
  expect([got.status, head.status, head.text]).toEqual([200, 200, '']);
  for (const name of ['content-type', 'cache-control', 'vary', 'etag', 'content-security-policy']) {
    expect(head.headers.get(name)).toBe(got.headers.get(name));
  }
});

test.each([
  ['/', 'page'],
  ['/v1/openapi.json', 'openapi'],
  ['/docs', 'page'],
  ['/nowhere', 'unknown'],
])('the log says what was asked for at %s', async (path, operation) => {
  await gateway.request(path);
  const logged = () => gateway.logs.find((line) => line.msg === 'request' && line.path === path);
  expect((await eventually(logged, 5000, 'its line')).operation).toBe(operation);
});
