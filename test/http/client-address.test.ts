import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, test } from 'vitest';
import { sendRaw } from '../support/client.ts';
import { SQLITE } from '../support/engines.ts';
import { gatewayOf, startGateway, type TestGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';

let asked = 0;

/** Asks for the OpenAPI document with these lines of the header; gives the logged client and the document's base address. */
async function seenBy({ port, logs }: TestGateway, lines: readonly string[], host = 'h.example') {
  const requestId = `seen-${++asked}`;
  const head = [
    'GET /v1/openapi.json HTTP/1.1',
    `Host: ${host}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
    ...lines,
  ];
  const answer = await sendRaw(port, `${head.join('\r\n')}\r\n\r\n`);
  const line = await eventually(() => logs.find((one) => one.requestId === requestId), 5000, 'it is logged');
  const [, base] = /"url":"([^"]*)\/v1"/.exec(answer) ?? [];
  return { client: line.clientAddress, base };
}

const warnings = ({ logs }: TestGateway) => logs.filter(({ level }) => level === 40).map(({ msg }) => msg);

describe('behind a trusted proxy', () => {
  const gateway = gatewayOf(SQLITE, { TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8,2001:db8::/32' });

  it.each([
    ['the one address', '203.0.113.7', '203.0.113.7'],
    ['the right-most address that is not trusted', '198.51.100.1, 203.0.113.7, 10.1.2.3', '203.0.113.7'],
    ['IPv6', '203.0.113.7, 2001:db9::1, 2001:db8::7', '2001:db9::1'],
    ['an IPv4 address in IPv6 form is in an IPv4 network', '203.0.113.7, ::ffff:10.1.2.3', '203.0.113.7'],
    ['the left-most when all are trusted', '10.0.0.9, 10.0.0.8', '10.0.0.9'],
    ['a port', '203.0.113.7:49152', '203.0.113.7'],
    ['IPv6 in brackets with a port', '[2001:db9::1]:49152', '2001:db9::1'],
    ['IPv6 in brackets', '[2001:db9::1]', '2001:db9::1'],
    ['spaces and tabs', ' \t203.0.113.7\t ,\t10.0.0.1 ', '203.0.113.7'],
  ])('the client is %s', async (_, sent, client) => {
    expect((await seenBy(gateway, [`X-Forwarded-For: ${sent}`])).client).toBe(client);
  });

  it.each([
    ['https://h.example', ['X-Forwarded-Proto: https']],
    ['https://h.example', ['X-Forwarded-Proto: HTTPS']],
    ['https://shop.example:8443', ['X-Forwarded-Proto: https', 'X-Forwarded-Host: shop.example:8443']],
    ['https://h.example', ['X-Forwarded-Proto: https,http']],
    ['https://h.example', ['X-Forwarded-Proto: HTTPS , https']],
    ['https://h.example', ['X-Forwarded-Proto: https', 'X-Forwarded-Proto: http']],
    ['http://h.example', ['X-Forwarded-Proto: http, https']],
    ['http://shop.example', ['X-Forwarded-Host: shop.example']],
    ['http://shop.example', ['X-Forwarded-Host: shop.example,inner.lan']],
    ['http://a.example:81', ['X-Forwarded-Host: a.example:81 , b', 'X-Forwarded-Host: c']],
    ['http://[2001:db8::1]', ['X-Forwarded-Host: [2001:db8::1]']],
    ['http://h.example', ['X-Forwarded-For: 203.0.113.7']],
    ['http://h.example', ['Forwarded: for=203.0.113.7;proto=https;host=shop.example']],
  ])('the base address is %s with %j', async (base, lines) => {
    expect((await seenBy(gateway, lines)).base).toBe(base);
  });

  test('Link leads to the forwarded address', async () => {
    await gateway.createPet({ name: 'one', categoryId: 1 });
    await gateway.createPet({ name: 'two', categoryId: 1 });
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.example' };
    const { headers: got } = await gateway.request('/v1/pets?limit=1', { headers });
    expect(got.get('link')).toMatch(/^<https:\/\/shop\.example\/v1\/pets\?/);
  });

  test('what is understood is told without a warning', () => {
    expect(warnings(gateway)).toEqual([]);
  });

  it.each([
    ['unknown', 'unknown'],
    ['an obfuscated one', '_hidden'],
    ['nothing', ''],
    ['quotes', '"203.0.113.7"'],
    ['a zone', 'fe80::1%eth0'],
    ['no address', '203.0.113.256'],
    ['a name', 'client.example'],
    ['a script', '<script>'],
    ['an endless port', `203.0.113.7:${'1'.repeat(9000)}`],
  ])('what stands left of %s is not believed: the client is the last one known', async (_, sent) => {
    expect((await seenBy(gateway, [`X-Forwarded-For: 203.0.113.7, ${sent}`])).client).toBe('127.0.0.1');
    expect((await seenBy(gateway, [`X-Forwarded-For: 203.0.113.7, ${sent}, 10.0.0.1`])).client).toBe('10.0.0.1');
  });

  test('of two lines, the second one is the right part', async () => {
    const lines = ['X-Forwarded-For: 203.0.113.7', 'X-Forwarded-For: 203.0.113.8'];
    expect((await seenBy(gateway, lines)).client).toBe('203.0.113.8');
  });

  it.each([
    [',', '127.0.0.1'],
    ['10.0.0.1,', '127.0.0.1'],
    [',\t10.0.0.1 ', '10.0.0.1'],
    ['10.0.0.1,1.1.1.1:', '127.0.0.1'],
  ])('a header of 15,000 characters of %j is read', async (part, client) => {
    const sent = part.repeat(15_000 / part.length);
    expect((await seenBy(gateway, [`X-Forwarded-For: ${sent}`])).client).toBe(client);
  });

  it.each([
    ['https://h.example', 'X-Forwarded-Proto: wss'],
    ['https://h.example', 'X-Forwarded-Proto:'],
    ['https://h.example', 'X-Forwarded-Proto: ,http'],
    ['https://h.example', 'X-Forwarded-Proto: http https'],
    ['https://h.example', 'X-Forwarded-Proto: "http"'],
    ['https://h.example', 'X-Forwarded-Proto: httpss'],
    ['http://h.example', 'X-Forwarded-Host: shop.example/path'],
    ['http://h.example', 'X-Forwarded-Host: me@shop.example'],
    ['http://h.example', 'X-Forwarded-Host: "><script>'],
    ['http://h.example', 'X-Forwarded-Host: a.example:65536'],
    ['http://h.example', 'X-Forwarded-Host:'],
    ['http://h.example', 'X-Forwarded-Host: ,shop.example'],
    ['http://h.example', `X-Forwarded-Host: ${'a'.repeat(300)}`],
  ])('the base address is %s where it is not understood: %j', async (base, line) => {
    expect((await seenBy(gateway, [line])).base).toBe(base);
  });

  test('what is not understood is told once for each header', () => {
    expect(warnings(gateway)).toEqual([
      'x-forwarded-for: what stands before 127.0.0.1 is no IP address',
      'x-forwarded-proto must be http or https: https is taken',
      'x-forwarded-host must be a host, with its port if it has one: the Host is taken',
    ]);
  });
});

describe('behind a proxy that is not trusted', () => {
  test('the headers count for nothing, and the first of them is a warning with the address', async () => {
    const gateway = await startGateway(SQLITE, { TRUSTED_PROXIES: '10.0.0.0/8,::1' });
    expect(await seenBy(gateway, [])).toEqual({ client: '127.0.0.1', base: 'http://h.example' });
    expect(warnings(gateway)).toEqual([]);
    const lines = ['X-Forwarded-Host: shop.example', 'X-Forwarded-Proto: https', 'X-Forwarded-For: 203.0.113.7'];
    for (const one of [...lines, ...lines]) {
      expect(await seenBy(gateway, [one])).toEqual({ client: '127.0.0.1', base: 'http://h.example' });
    }
    expect(warnings(gateway)).toEqual([
      'x-forwarded-host came from 127.0.0.1: if that is your proxy, name it in TRUSTED_PROXIES',
    ]);
  });

  test('PUBLIC_URL comes before what a trusted one says', async () => {
    const settings = { TRUSTED_PROXIES: '127.0.0.1', PUBLIC_URL: 'https://pets.example/shop' };
    const lines = ['X-Forwarded-Proto: http', 'X-Forwarded-Host: x.example', 'X-Forwarded-For: 203.0.113.7'];
    const gateway = await startGateway(SQLITE, settings);
    expect(await seenBy(gateway, lines)).toEqual({ client: '203.0.113.7', base: 'https://pets.example/shop' });
  });
});

test('at an IPv6 socket, an IPv4 client has its usual address, and is trusted by it', async () => {
  const gateway = await startGateway(SQLITE, { HOST: '::', TRUSTED_PROXIES: '127.0.0.1' });
  expect((await seenBy(gateway, [])).client).toBe('127.0.0.1');
  expect((await seenBy(gateway, ['X-Forwarded-For: 203.0.113.7'])).client).toBe('203.0.113.7');
});

test('a request is not served whose connection was reset before it was read: its client has no address any more', async () => {
  const gateway = await startGateway(SQLITE, { TRUSTED_PROXIES: '127.0.0.1' });
  const socket = connect(gateway.port, '127.0.0.1');
  await once(socket, 'connect');
  const head =
    'GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\nX-Request-Id: reset\r\nX-Forwarded-For: 203.0.113.7\r\n\r\n';
  socket.write(head, () => socket.resetAndDestroy());
  await once(socket, 'close');
  expect((await seenBy(gateway, ['X-Forwarded-For: 203.0.113.7'])).client).toBe('203.0.113.7');
  expect(gateway.logs.filter(({ requestId }) => requestId === 'reset')).toEqual([]);
  expect(warnings(gateway)).toEqual([]);
});

it.each([
  ['its Host', 'GET / HTTP/1.1\r\nHost: a/b\r\nConnection: close\r\n\r\n'],
  ['the parser', 'GET / HTTP/9\r\n\r\n'],
])('a request that %s refuses has the address of its connection in the log', async (_, bytes) => {
  const gateway = await startGateway(SQLITE);
  await sendRaw(gateway.port, bytes);
  expect(gateway.logs).toContainEqual(
    expect.objectContaining({ msg: 'request refused unread', clientAddress: '127.0.0.1' }),
  );
});
