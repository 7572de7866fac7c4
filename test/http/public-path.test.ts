import { createServer, request } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { send } from '../support/client.ts';
import { SQLITE } from '../support/engines.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { serveListener } from '../support/served-app.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

describe('behind a proxy that strips the path of PUBLIC_URL', () => {
  let gateway: TestGateway;
  let base = '';
  const proxy = createServer((asked, answer) => {
    const { method, headers, url = '' } = asked;
    if (!url.startsWith('/shop/')) return answer.writeHead(404).end('not the shop');
    const path = url.slice('/shop'.length);
    const passed = request({ port: gateway.port, path, method, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 0, got.headers);
      got.pipe(answer);
    });
    return asked.pipe(passed);
  });
  beforeAll(async () => {
    base = `${await serveListener(proxy)}/shop`;
    gateway = await startGateway(SQLITE, { PUBLIC_URL: `${base}/` });
    await gateway.createPet({ name: 'one', categoryId: 1 });
  });

  const call = (address: string, init: RequestInit = {}) =>
    send(address, { ...init, headers: { ...init.headers, authorization: `Bearer ${gateway.key}` } });
  const linksOf = (headers: Headers) =>
    [...(headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="([^"]*)"/g)].map(([, target, rel]) => [rel, target]);

  test('Location is the path of what was created', async () => {
    const body = '{"name":"two","categoryId":1}';
    const { headers, text } = await call(`${base}/v1/pets`, { method: 'POST', headers: JSON_TYPE, body });
    const location = headers.get('location') ?? '';
    expect(location).toMatch(/^\/shop\/v1\/pets\/\d+$/);
    expect((await call(new URL(location, base).href)).text).toBe(text);
  });

  test.each([
    ['v1/pets?limit=1', ['next']],
    ['v1/pets/1', ['successor-version', 'deprecation']],
    ['v1/pets/99', ['successor-version', 'deprecation']],
  ])('each Link of %s leads to what is served', async (path, rels) => {
    const { headers } = await call(`${base}/${path}`);
    const links = linksOf(headers);
    expect(links.map(([rel]) => rel)).toEqual(rels);
    for (const [, target = ''] of links) expect((await call(new URL(target, base).href)).status).toBe(200);
  });

  test('a 404 suggests a path that leads to what is served', async () => {
    const { message } = (await call(`${base}/v1/pet`)).json;
    const [, suggested = ''] = /Did you mean (\S+)\?/.exec(message) ?? [];
    expect(suggested).toBe('/shop/v1/pets');
    expect((await call(new URL(suggested, base).href)).status).toBe(200);
  });

  test('the reference shows the headers of a deprecated operation as they are sent', async () => {
    const { headers } = await call(`${base}/v1/pets/1`);
    const { text } = await call(`${base}/docs`, { headers: { accept: 'text/html' } });
    const shown = text.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
    expect(shown).toContain(`Link: ${headers.get('link')}`);
  });

  test('a 404 names the reference, and OpenAPI shows such a Location', async () => {
    const { message } = (await call(`${base}/v1/nothing`)).json;
    const [, reference = ''] = /Reference: (\S+)$/.exec(message) ?? [];
    expect((await call(new URL(reference, base).href)).status).toBe(200);
    const { components } = (await call(`${base}/v1/openapi.json`)).json;
    expect(components.headers.Location.example).toBe('/shop/v1/pets/1');
  });
});
