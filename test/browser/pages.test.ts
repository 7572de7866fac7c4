import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { plainRequest } from '../support/plain-request.ts';

const { url } = await startGateway(SQLITE);
const html = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

/** The paths of a page and of what it refers to. */
async function withAssets(path: string): Promise<string[]> {
  const text = await (await fetch(url + path, { headers: html })).text();
  const named = [...text.matchAll(/"(assets\/[^"]+)"/g)].map(([, asset]) => `/${asset}`);
  expect(named.length).toBeGreaterThan(2);
  return [...new Set([path, ...named])];
}

const get = (path: string, headers: Record<string, string>) =>
  plainRequest(url + path, { headers: { ...html, ...headers } });

describe('assets', () => {
  test.each([
    ['/', 12_000],
    ['/docs', 60_000],
    ['/graphql', 2_000_000],
  ])('of %s and the page itself are fewer than %d bytes', async (path, most) => {
    const answers = await Promise.all((await withAssets(path)).map((asked) => get(asked, { 'accept-encoding': 'br' })));
    expect(answers.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThan(most);
  });

  test.each(['/', '/docs', '/graphql'])('of %s come as Brotli, gzip or plain, with one content', async (page) => {
    for (const path of await withAssets(page)) {
      const encodings = ['identity', 'gzip', 'gzip, br'];
      const answers = await Promise.all(encodings.map((encoding) => get(path, { 'accept-encoding': encoding })));
      expect(answers.map(({ headers }) => headers['content-encoding'])).toEqual([undefined, 'gzip', 'br']);
      const [plain, gzip, brotli] = answers.map(({ bytes }) => bytes) as [Buffer, Buffer, Buffer];
      expect(gunzipSync(gzip).equals(plain), path).toBe(true);
      expect(brotliDecompressSync(brotli).equals(plain), path).toBe(true);
    }
  });

  test('are not sent again to who has them', async () => {
    const { headers } = await get('/docs', {});
    // RFC 9110 §13.1.3: beside If-None-Match, If-Modified-Since is ignored.
    const since = { 'if-modified-since': new Date(0).toUTCString() };
    const again = await get('/docs', { 'if-none-match': headers.etag ?? '', ...since });
    expect([again.status, again.bytes.length, again.headers['cache-control']]).toEqual([304, 0, 'no-cache']);
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

  test('/graphql is no page with GRAPHIQL=false, and the landing page does not name it', async () => {
    const without = await startGateway(SQLITE, { GRAPHIQL: 'false' });
    expect((await fetch(`${without.url}/graphql`, { headers: html })).status).toBe(401);
    expect(await (await fetch(without.url, { headers: html })).text()).not.toContain('GraphiQL');
  });
});
