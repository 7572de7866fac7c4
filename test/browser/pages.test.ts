import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { sendRaw } from '../support/client.ts';
import { ENGINES, type TestEngine } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';

const engine = ENGINES[0] as TestEngine;
const { url, port } = await startGateway(engine);
const html = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

/** What a page refers to, as absolute addresses. */
async function assetsOf(path: string): Promise<string[]> {
  const text = await (await fetch(url + path, { headers: html })).text();
  const named = [...text.matchAll(/"(assets\/[^"]+)"/g)].map(([, asset]) => `${url}/${asset}`);
  return [...new Set(named)];
}

/** The answer as it came, not decompressed; unlike fetch, it adds no headers of its own. */
async function get(path: string, headers: Record<string, string>) {
  const sent = request(url + path, { headers: { ...html, ...headers } }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage]; // what the event brings
  const chunks: Buffer[] = await response.toArray();
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
}

describe('assets', () => {
  test.each(['/', '/docs', '/graphql'])('of %s are immutable, and each is asked for by its hash', async (path) => {
    const assets = await assetsOf(path);
    expect(assets.length).toBeGreaterThan(2);
    for (const asset of assets) {
      const { status, headers } = await fetch(asset, { method: 'HEAD' });
      expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(asset).toMatch(/\/assets\/[0-9a-f]{12}\/[a-z-]+\.(?:js|css|svg)$/);
    }
  });

  test.each([
    ['/', 12_000],
    ['/docs', 60_000],
    ['/graphql', 2_000_000],
  ])('of %s and the page itself are fewer than %d bytes', async (path, most) => {
    const paths = [path, ...(await assetsOf(path)).map((asset) => asset.slice(url.length))];
    const answers = await Promise.all(paths.map((asked) => get(asked, { 'accept-encoding': 'br' })));
    expect(answers.reduce((sum, { body }) => sum + body.length, 0)).toBeLessThan(most);
  });

  test.each(['/', '/docs', '/graphql'])('of %s come as Brotli, gzip or plain, with one content', async (page) => {
    for (const path of [page, ...(await assetsOf(page)).map((asset) => asset.slice(url.length))]) {
      const encodings = ['identity', 'gzip', 'gzip, br'];
      const answers = await Promise.all(encodings.map((encoding) => get(path, { 'accept-encoding': encoding })));
      expect(answers.map(({ headers }) => headers['content-encoding'])).toEqual([undefined, 'gzip', 'br']);
      const [plain, gzip, brotli] = answers.map(({ body }) => body) as [Buffer, Buffer, Buffer];
      expect(gunzipSync(gzip).equals(plain), path).toBe(true);
      expect(brotliDecompressSync(brotli).equals(plain), path).toBe(true);
    }
  });

  test('are not sent again to who has them', async () => {
    const { headers } = await get('/docs', {});
    const again = await get('/docs', { 'if-none-match': headers.etag ?? '' });
    expect([again.status, again.body.length, again.headers['cache-control']]).toEqual([304, 0, 'no-cache']);
  });

  test('answer GET and HEAD only', async () => {
    const { status, headers } = await fetch(`${url}/docs`, { method: 'POST' });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect((await fetch(`${url}/assets/000000000000/site.css`)).status).toBe(404);
  });
});

describe('pages', () => {
  test.each([
    [
      '/',
      "default-src 'none'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ],
    ['/docs', "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self';"],
    ['/graphql', "script-src 'self';"],
  ])('%s carries a strict Content-Security-Policy', async (path, policy) => {
    const { status, headers } = await fetch(url + path, { headers: html });
    expect(status).toBe(200);
    expect(headers.get('content-security-policy')).toContain(policy);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none';.*frame-ancestors 'none'$/);
    expect(headers.get('content-security-policy')).not.toMatch(/unsafe-eval|https?:|script-src[^;]*unsafe/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });

  test('/graphql is GraphiQL for browsers only', async () => {
    expect((await fetch(`${url}/graphql`, { headers: html })).headers.get('vary')).toMatch(/Accept(?:,|$)/);
    expect((await fetch(`${url}/graphql?query={__typename}`)).status).toBe(401);
    expect((await fetch(`${url}/graphql`, { method: 'POST', headers: html })).status).toBe(401);
  });

  test('/graphql is no page with GRAPHIQL=false, and the landing page does not name it', async () => {
    const without = await startGateway(engine, { GRAPHIQL: 'false' });
    expect((await fetch(`${without.url}/graphql`, { headers: html })).status).toBe(401);
    expect(await (await fetch(without.url, { headers: html })).text()).not.toContain('GraphiQL');
  });

  test('/ escapes what it reflects', async () => {
    const answer = await sendRaw(
      port,
      'GET / HTTP/1.1\r\nHost: "><script>alert(1)</script>\r\nAccept: text/html\r\nConnection: close\r\n\r\n',
    );
    expect(answer).not.toContain('<script');
  });
});
