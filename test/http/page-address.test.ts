import { brotliDecompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { SQLITE } from '../support/engines.ts';
import { gatewayOf, startGateway } from '../support/gateway.ts';
import { plainRequest } from '../support/plain-request.ts';

const gateway = gatewayOf(SQLITE);

/** The answer to a GET of the reference at a Host. */
async function getDocs(host: string, headers: Record<string, string> = {}, { port } = gateway) {
  const url = `http://127.0.0.1:${port}/docs`;
  const { bytes, ...answer } = await plainRequest(url, { headers: { host, ...headers } });
  const isCompressed = answer.headers['content-encoding'] === 'br';
  return { ...answer, isCompressed, html: String(isCompressed ? brotliDecompressSync(bytes) : bytes) };
}

/** Every address in samples, without its path. */
const addressesIn = (html: string) =>
  new Set((html.match(/<pre[^<]*/g) ?? []).flatMap((sample) => sample.match(/https?:\/\/[^/\s<&]+/g) ?? []));

describe('the reference names, without scripts,', () => {
  test.each(['127.0.0.1:4001', 'shop.example', '[::1]:8080', 'SHOP.example:80'])(
    'the address that was asked for: %s',
    async (host) => {
      const { html } = await getDocs(host);
      expect(addressesIn(html)).toEqual(new Set([`http://${host}`]));
      expect(html).toContain(`<pre class="base-url">http://${host}</pre>`);
      expect(html).not.toContain('address.invalid');
    },
  );

  test('the address that a trusted proxy was asked for, though its Host is the same each time', async () => {
    const own = await startGateway(SQLITE, { TRUSTED_PROXIES: '127.0.0.1' });
    for (const [proto, host] of [
      ['http', 'one.example'],
      ['https', 'one.example'],
      ['https', 'two.example'],
    ]) {
      const forwarded = { 'x-forwarded-proto': `${proto}`, 'x-forwarded-host': `${host}` };
      const { html } = await getDocs('inside.example', forwarded, own);
      expect(addressesIn(html)).toEqual(new Set([`${proto}://${host}`]));
    }
  });

  test('PUBLIC_URL, whatever was asked for', async () => {
    const own = await startGateway(SQLITE, { PUBLIC_URL: 'https://shop.example/api' });
    const { html } = await getDocs('other.example', {}, own);
    expect(html).toContain('https://shop.example/api/v1/');
    expect(html).not.toContain('other.example');
  });

  test('a Host that a shell or HTML would take for more than a name, by percent-encoding', async () => {
    for (const page of [await getDocs("a'$(id)'&b;c"), await getDocs('127.0.0.1')]) {
      expect(page.status).toBe(200);
      expect(page.html).not.toContain("a'$(id)");
    }
    const { html } = await getDocs("a'$(id)'&b;c");
    expect(html).toContain('http://a%27%24%28id%29%27%26b%3bc/v1/');
  });
});

describe('the content for each address', () => {
  test('has a tag of its own: only its own is not sent again', async () => {
    const tags = [];
    for (const host of ['one.example', 'two.example']) tags.push((await getDocs(host)).headers.etag ?? '');
    const [one = '', two = ''] = tags;
    expect(one).not.toBe(two);
    const again = async (host: string, tag: string) => (await getDocs(host, { 'if-none-match': tag })).status;
    expect(await again('one.example', one)).toBe(304);
    expect(await again('two.example', two)).toBe(304);
    expect(await again('one.example', two)).toBe(200);
    expect((await getDocs('one.example')).headers.vary).toBe('Accept-Encoding');
  });

  test('is compressed for one new address in a second, however many ask', async () => {
    const own = await startGateway(SQLITE);
    const hosts = Array.from({ length: 100 }, (_, index) => `host-${index}.example`);
    const br = { 'accept-encoding': 'br' };
    const startedAt = performance.now();
    const answers = await Promise.all(hosts.map((host) => getDocs(host, br, own)));
    const seconds = (performance.now() - startedAt) / 1000;
    expect(answers.filter(({ html }, index) => !html.includes(`http://${hosts[index]}/v1/`))).toEqual([]);
    const compressed = hosts.filter((_, index) => answers[index]?.isCompressed);
    expect(compressed.length).toBeGreaterThanOrEqual(1);
    expect(compressed.length).toBeLessThanOrEqual(1 + seconds);
    expect((await getDocs(compressed[0] ?? '', br, own)).isCompressed).toBe(true);
  });
});
