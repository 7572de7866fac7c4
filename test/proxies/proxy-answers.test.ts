import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { sendRaw } from '../support/client.ts';
import { SQLITE, temporaryFolder } from '../support/engines.ts';
import { gatewayOf, startGateway } from '../support/gateway.ts';
import { eventually, type LoadAnswer, type LoadClient, petBody } from '../support/load.ts';
import { freePort } from '../support/ports.ts';
import { serveListener } from '../support/served-app.ts';
import { hasProxy, PROXY_NAMES, type ProxyServer, SITE, startProxy } from './proxy.ts';

const HSTS = 'max-age=63072000';
/** Trusted nowhere, and not the address that the proxy connects from. */
const CLIENT = '127.0.0.9';
const FORGED = { 'x-forwarded-for': '203.0.113.66', 'x-forwarded-host': 'forged.example', 'x-forwarded-proto': 'http' };

/** An answer's status and body; it must have the form and the headers of an Error. */
function errorOf({ status, headers, text }: LoadAnswer, hsts = HSTS): unknown {
  const body = JSON.parse(text);
  expect(Object.keys(body)).toEqual(['code', 'message', 'status']);
  expect(body.status).toBe(status);
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': expect.stringMatching(/^[\w-]{20,36}$/),
  });
  expect(headers['strict-transport-security'] ?? 'none').toBe(hsts);
  return [status, body.code];
}

/** A server that is ready, takes every other request and ends its connection without an answer, or gives none. */
async function startVanishing(): Promise<{ port: number; taken: string[] }> {
  const taken: string[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/readyz') return response.end('{}');
    taken.push(`${request.method} ${request.url}`);
    if (request.url === '/vanish') request.resume().once('end', () => request.socket.destroy());
    return undefined;
  });
  return { port: Number(new URL(await serveListener(server)).port), taken };
}

describe.each(PROXY_NAMES)('behind %s', (name) => {
  describe.runIf(hasProxy(name))('with its file of deploy/', () => {
    const gateway = gatewayOf(SQLITE, { TRUSTED_PROXIES: '127.0.0.1' });
    let proxy: ProxyServer;
    let client: LoadClient;
    beforeAll(async () => {
      proxy = await startProxy(name, [gateway.port, await freePort()]);
      client = proxy.connect(gateway.key, { localAddress: CLIENT });
      for (const pet of ['one', 'two']) await client.ask('POST', '/v1/pets', petBody(pet));
    });
    const loggedBy = (requestId: unknown) =>
      eventually(() => gateway.logs.find((line) => line.requestId === requestId), 10_000, 'the gateway logs it');

    test('the gateway logs the address of the client, and nothing that the client claims', async () => {
      const { headers } = await client.ask('GET', '/v1/pets?limit=1', undefined, FORGED);
      expect(await loggedBy(headers['x-request-id'])).toMatchObject({ clientAddress: CLIENT });
      expect(headers.link).toMatch(new RegExp(`^<https://${SITE}/v1/pets\\?`));
      expect(gateway.logs.filter(({ level }) => level === 40)).toEqual([]);
    });

    it.each([
      ['made by the proxy', {}],
      ['of the client', { 'x-request-id': 'order-4711' }],
      ['made by the proxy, when the client sends a key as one', { 'x-request-id': `petstore_${'a'.repeat(38)}` }],
    ])('an X-Request-Id %s is in both logs and in the answer', async (_, sent: Record<string, string>) => {
      const { headers, status } = await client.ask('GET', '/v1/pets?limit=2', undefined, sent);
      const requestId = headers['x-request-id'];
      expect(requestId).toMatch(
        'x-request-id' in sent && sent['x-request-id'].length < 40 ? /^order-4711$/ : /^[\da-f-]{32,36}$/,
      );
      await loggedBy(requestId);
      const line = await eventually(
        () => proxy.accessLog().findLast((one) => JSON.stringify(one).includes(String(requestId))),
        10_000,
        'the proxy logs it',
      );
      expect(line).toMatchObject({ status });
      const text = JSON.stringify(proxy.accessLog());
      for (const secret of [gateway.key, 'a'.repeat(38), 'limit=2']) expect(text).not.toContain(secret);
    });

    test('an answer of the proxy itself does not repeat a key that was sent as X-Request-Id', async () => {
      const sent = { 'x-request-id': `petstore_${'a'.repeat(38)}` };
      expect(errorOf(await client.ask('GET', '/metrics', undefined, sent))).toEqual([404, 'not_found']);
    });

    it.each([
      ['GET', '/v1/pets?limit=0', 400, 'bad_request'],
      ['GET', '/v1/pets/4711', 404, 'not_found'],
      ['DELETE', '/v1/pets', 405, 'method_not_allowed'],
      ['POST', '/v1/pets', 413, 'payload_too_large', petBody('x'.repeat(70_000))],
    ])('the gateway itself refuses %s %s', async (method, path, status, code, body?: string) => {
      const answer = await client.ask(method, path, body);
      expect(errorOf(answer)).toEqual([status, code]);
      expect(await loggedBy(answer.headers['x-request-id'])).toMatchObject({ status });
    });

    it('refuses a body of more than 4 MiB with an Error', async () => {
      expect(errorOf(await client.ask('POST', '/v1/pets', petBody('x'.repeat(4_300_000))))).toEqual([
        413,
        'payload_too_large',
      ]);
    });

    it.runIf(name === 'nginx').each([
      ['garbage', 'garbage\r\n\r\n'],
      ['a NUL in the path', `GET /%00 HTTP/1.1\r\nHost: ${SITE}\r\n\r\n`],
      ['a path of 20 kB', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: ${SITE}\r\n\r\n`],
      ['an unknown Transfer-Encoding', `GET / HTTP/1.1\r\nHost: ${SITE}\r\nTransfer-Encoding: br\r\n\r\n`],
      ['another version of HTTP', `GET / HTTP/3.0\r\nHost: ${SITE}\r\n\r\n`],
      ['a CONNECT', `CONNECT ${SITE}:443 HTTP/1.1\r\nHost: ${SITE}\r\n\r\n`],
    ])('refuses %s with an Error of 400', async (_what, bytes) => {
      const text = await sendRaw(Number(new URL(proxy.http).port), bytes);
      expect(text).toMatch(/^HTTP\/1\.1 400 /);
      expect(text).toContain('\r\n\r\n{"code":"bad_request",');
    });

    it('keeps /metrics to itself', async () => {
      expect(errorOf(await client.ask('GET', '/metrics'))).toEqual([404, 'not_found']);
    });

    it('refuses plain http with an Error, and the gateway does not see it', async () => {
      const plain = proxy.connect(gateway.key, {}, proxy.http);
      const answer = await plain.ask('GET', '/v1/pets');
      expect(errorOf(answer, 'none')).toEqual([403, 'forbidden']);
      expect(gateway.logs.map(({ requestId }) => requestId)).not.toContain(answer.headers['x-request-id']);
    });

    it('is not trusted without TRUSTED_PROXIES: Link says http, and one warning tells of it', async () => {
      const other = await startGateway(SQLITE);
      const inFront = await startProxy(name, [other.port, await freePort()]);
      const { ask } = inFront.connect(other.key);
      for (const pet of ['one', 'two']) await ask('POST', '/v1/pets', petBody(pet));
      const { headers } = await ask('GET', '/v1/pets?limit=1');
      expect(headers.link).toMatch(new RegExp(`^<http://${SITE}/v1/pets\\?`));
      const warnings = other.logs.filter(({ level }) => level === 40);
      expect(warnings).toEqual([expect.objectContaining({ msg: expect.stringContaining('127.0.0.1') })]);
    });

    it('answers with an Error when no gateway is there', async () => {
      const { ask } = (await startProxy(name, [await freePort(), await freePort()])).connect('');
      const answer = await ask('POST', '/v1/pets', petBody('nobody takes it'));
      expect([
        [502, 'bad_gateway'],
        [503, 'service_unavailable'],
      ]).toContainEqual(errorOf(answer));
    });

    it('sends nothing twice that may have been taken, and a GET to the other gateway', async () => {
      const [one, two] = [await startVanishing(), await startVanishing()];
      const { ask } = (await startProxy(name, [one.port, two.port])).connect('');
      const taken = () => [...one.taken, ...two.taken].toSorted();
      expect(errorOf(await ask('POST', '/vanish', petBody('a')))).toEqual([502, 'bad_gateway']);
      expect(errorOf(await ask('POST', '/vanish', petBody('b'), { 'idempotency-key': 'b' }))).toEqual([
        502,
        'bad_gateway',
      ]);
      expect(taken()).toEqual(['POST /vanish', 'POST /vanish']);
      expect(errorOf(await ask('GET', '/vanish'))).toEqual([502, 'bad_gateway']);
      expect(one.taken).toContain('GET /vanish');
      expect(two.taken).toContain('GET /vanish');
    });

    it.runIf(name === 'nginx')('sends a gateway that is away only what the other one does not take', async () => {
      const run = temporaryFolder();
      const inRun = (file: string) => file.replaceAll('/run/', `${run}/`);
      const [a, b] = [await startVanishing(), await startVanishing()];
      const both = (await startProxy(name, [a.port, b.port], inRun)).connect('');
      const lonely = (await startProxy(name, [a.port, await freePort()], inRun)).connect('');
      const taken = async ({ ask }: LoadClient) => {
        for (let turn = 0; turn < 2; turn++) await ask('POST', '/vanish', petBody('c'));
        return [a.taken.splice(0).length, b.taken.splice(0).length];
      };
      expect(await taken(both)).toEqual([1, 1]);
      writeFileSync(join(run, 'petstore-a.away'), '');
      expect(await taken(both)).toEqual([0, 2]);
      expect(await taken(lonely)).toEqual([2, 0]);
      rmSync(join(run, 'petstore-a.away'));
      writeFileSync(join(run, 'petstore-b.away'), '');
      expect(await taken(both)).toEqual([2, 0]);
    });

    it('answers with an Error when a gateway never answers', async () => {
      const [one, two] = [await startVanishing(), await startVanishing()];
      const { ask } = (await startProxy(name, [one.port, two.port])).connect('');
      expect(errorOf(await ask('GET', '/never'))).toEqual([504, 'gateway_timeout']);
      expect([...one.taken, ...two.taken]).toEqual(['GET /never']);
    });
  });
});
