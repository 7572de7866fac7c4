import { once } from 'node:events';
import { createServer } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { type Answer, send, sendRaw } from '../support/client.ts';
import { SQLITE } from '../support/engines.ts';
import { failure } from '../support/impostor.ts';
import { eventually } from '../support/load.ts';
import { ALLOWED } from '../support/petstore-api.ts';
import { freePort } from '../support/ports.ts';
import { run, startProcess } from '../support/process.ts';
import { sendUnfinished } from './half-sent.ts';

const WAITS =
  /"level":40,[^\n]*"msg":"(The database [^\n]*)\. Waiting for it; (http:\S+)\/livez is 200, everything else 503"/;
const REFUSAL = {
  code: 'service_unavailable',
  message: 'The gateway is starting: it waits for its database.',
  status: 503,
};
const databaseAt = (port: number) => `mysql://app:S3cr%40t@127.0.0.1:${port}/petstore`;

/** Starts a gateway whose database does not answer: why it waits, and its address. */
async function startWaiting(databaseUrl: string, env: Record<string, string> = {}) {
  const gateway = run('main.ts', [], { PORT: '0', DATABASE_URL: databaseUrl, ...env });
  const [, reason = '', url = ''] = await gateway.waitFor(WAITS);
  return { gateway, reason, url, port: Number(new URL(url).port) };
}

function expectRefusal({ status, json, headers }: Answer): void {
  expect([status, json]).toEqual([503, REFUSAL]);
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'retry-after': '1',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'x-request-id': expect.any(String),
    date: expect.any(String),
  });
}

describe.each(['1', '2'])('a start whose database does not answer, WORKERS=%s', (WORKERS) => {
  test('says so once; /livez is 200, everything else 503; what it is sent does no harm; SIGTERM ends it', async () => {
    const database = await freePort();
    const waiting = await startWaiting(databaseAt(database), { WORKERS, SHUTDOWN_GRACE_MS: '600000' });
    const { gateway, url, port } = waiting;
    expect(waiting.reason).toBe(
      `The database mysql://app:***@127.0.0.1:${database}/petstore does not answer: connect ECONNREFUSED 127.0.0.1:${database}`,
    );

    const live = await send(`${url}/livez`);
    expect([live.status, live.json]).toEqual([200, { status: 'ok' }]);
    expect((await send(`${url}/livez`, { method: 'HEAD' })).status).toBe(200);
    const json = { 'content-type': 'application/json', 'x-request-id': 'mine' };
    const body = '{"query":"{ pets { id } }"}';
    for (const path of ['/readyz', '/', '/v1/pets', '/v1/openapi.json', '/graphql', '/metrics', '/docs', '/none']) {
      expectRefusal(await send(url + path));
      const posted = await send(url + path, { method: 'POST', headers: json, body });
      expectRefusal(posted);
      expect(posted.headers.get('x-request-id')).toBe('mine');
    }
    expectRefusal(await send(`${url}/livez`, { method: 'DELETE' }));
    expectRefusal(await send(`${url}/v1/pets`, { method: 'POST', headers: json, body: 'x'.repeat(4_000_000) }));
    const head = await send(`${url}/v1/pets`, { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([503, '']);

    const browser = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };
    const preflight = await send(`${url}/v1/pets`, { method: 'OPTIONS', headers: browser });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    const read = await send(`${url}/v1/pets`, { headers: browser });
    expectRefusal(read);
    expect(read.headers.get('access-control-allow-origin')).toBe('*');
    expect(read.headers.get('access-control-expose-headers')).toContain('Retry-After');

    expect(await sendRaw(port, 'nonsense\r\n\r\n')).toMatch(/^HTTP\/1.1 400 [\s\S]*\r\nDate: [\s\S]*"bad_request"/);
    expect(await sendRaw(port, 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n')).toMatch(/^HTTP\/1.1 405 [\s\S]*GET, HEAD/);
    expect(await sendRaw(port, 'GET / HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1.1 400 [\s\S]*Host header is missing/);
    const burst = 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(500);
    expect((await sendRaw(port, burst, { answers: 500 })).match(/HTTP\/1.1 503 /g)).toHaveLength(500);

    await sendUnfinished(url, 'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{');
    const answerToHalf = await sendUnfinished(url, 'GET /v1/pets HTT');
    expect((await send(`${url}/livez`)).status).toBe(200);
    await gateway.stop();
    expect(answerToHalf()).toBe(''); // such as that it did not come in time: nobody waited for it
    expect(gateway.stderr()).toBe('');
    expect(gateway.stdout().match(/Waiting for it/g)).toHaveLength(1);
    expect(gateway.stdout()).not.toContain('S3cr');
    expect(gateway.stdout()).not.toContain('"path":"/livez","status":200'); // probes come all the time
  });
});

test('a start waits for the end of a migration by another process: it listens meanwhile, and serves after it', async () => {
  const databaseUrl = await SQLITE.freshDatabase();
  using other = new DatabaseSync(databaseUrl.slice('sqlite:'.length));
  other.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE');
  const port = await freePort();
  const starting = startProcess({ DATABASE_URL: databaseUrl, PORT: String(port) });
  const isLive = () =>
    send(`http://127.0.0.1:${port}/livez`).then(
      ({ status }) => status === 200,
      () => false,
    );
  await eventually(isLive, 60_000, 'it listens');
  expectRefusal(await send(`http://127.0.0.1:${port}/readyz`));
  other.exec('COMMIT');
  const { url } = await starting;
  expect((await send(`${url}/readyz`)).status).toBe(200);
  expect(await sendRaw(port, 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n')).toContain(`\r\nAllow: ${ALLOWED}\r\n`);
});

test('what no wait mends ends a start, also when it is found after a wait', async () => {
  const database = await freePort();
  const { gateway } = await startWaiting(databaseAt(database));
  const packet = failure(1045, '28000', 'Access denied, you');
  const late = createServer((socket) => {
    socket.on('error', () => {}); // it is cut
    socket.end(Buffer.concat([Buffer.from([packet.length, 0, 0, 0]), packet]));
  });
  await once(late.listen(database, '127.0.0.1'), 'listening');
  expect(await gateway.exited).toEqual({ code: 1, signal: null });
  late.close();
  expect(gateway.stderr()).toMatch(/^The database \S+ refuses the account: Access denied, you: [^\n]+\n$/);
});
