import { describe, expect, it, test } from 'vitest';
import { sendRaw } from '../support/client.ts';
import { ENGINES, type TestEngine } from '../support/engines.ts';
import { eventually, petBody } from '../support/load.ts';
import { useGateway } from './checked-gateway.ts';

const [sqlite] = ENGINES as [TestEngine]; // always there; HTTP is the same on each engine

/** createPet as bytes. */
function createRequest(key: string, name: string): string {
  const body = petBody(name);
  return `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

describe('a pipelined CONNECT', () => {
  const gateway = useGateway(sqlite);

  it.each([1, 3])('is refused after the answers to the %i requests before it', async (requests) => {
    const { key, port } = gateway();
    const creates = Array.from({ length: requests }, (_, index) => createRequest(key, `before-${index}`)).join('');
    const bytes = `${creates}CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n`;
    const text = await sendRaw(port, bytes, { answers: requests + 1 });
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
    expect(statuses).toEqual([...Array.from({ length: requests }, () => 201), 405]);
    expect(text).toContain('This is no proxy.');
  });
});

describe('HEAD', () => {
  const gateway = useGateway(sqlite);

  test('of GraphiQL answers as GET', async () => {
    const init = { headers: { accept: 'text/html' } };
    const got = await gateway().request('/graphql', init);
    const head = await gateway().request('/graphql', { ...init, method: 'HEAD' });
    expect([got.status, head.status, head.text]).toEqual([200, 200, '']);
    for (const name of ['content-type', 'cache-control', 'vary', 'etag', 'content-security-policy']) {
      expect(head.headers.get(name)).toBe(got.headers.get(name));
    }
  });
});

describe('the log', () => {
  const gateway = useGateway(sqlite);

  test.each([
    ['/', 'page'],
    ['/v1/openapi.json', 'openapi'],
    ['/docs', 'page'],
    ['/nowhere', 'unknown'],
  ])('says what was asked for at %s', async (path, operation) => {
    await gateway().request(path);
    const logged = () => gateway().logs.find((line) => line.msg === 'request' && line.path === path);
    expect((await eventually(logged, 5000, 'its line')).operation).toBe(operation);
  });
});
