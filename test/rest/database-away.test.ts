import { beforeAll, expect, it, test } from 'vitest';
import { generateApiKey } from '../../src/gateway/keys/api-key.ts';
import { describeEachEngine, describeOnMysql } from '../support/engines.ts';
import { eventually } from '../support/load.ts';
import { freePort } from '../support/ports.ts';
import { msSince } from '../support/stall-clock.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { type Call, type CheckedGateway, startCheckedGateway, useGateway } from './checked-gateway.ts';

const json = { 'content-type': 'application/json' };
const REQUESTS: readonly (readonly [method: string, path: string, call: Call])[] = [
  ['GET', '/v1/pets', {}],
  ['HEAD', '/v1/pets', {}],
  ['GET', '/v1/pets?status=sold&limit=3&after=1', {}],
  ['GET', '/v1/pets/1', {}],
  ['POST', '/v1/pets', { headers: json, body: '{"name":"Rex","categoryId":1}' }],
  ['POST', '/v1/pets', { headers: { ...json, 'idempotency-key': 'k' }, body: '{"name":"Rex","categoryId":1}' }],
];

async function expectUnavailable(
  gateway: CheckedGateway,
  [method, path, call]: (typeof REQUESTS)[number],
): Promise<void> {
  const startedAt = performance.now();
  const answer = await gateway.call(method, path, call);
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toBe('1');
  expect(msSince(startedAt)).toBeLessThan(5500);
}

describeEachEngine('503 › a database that is closed', (engine) => {
  const gateway = useGateway(engine, {}, async ({ get, database }) => {
    await get('/v1/pets'); // the API key is known from now on
    await database.close();
  });

  it.each(REQUESTS)('%s %s', async (...request) => {
    await expectUnavailable(gateway, request);
  });

  test('what needs no database is served as ever', async () => {
    const own = await startCheckedGateway(engine); // a key is remembered for some seconds only
    await own.get('/v1/pets');
    await own.database.close();
    expect((await own.get('/v1/pets?limit=0')).status).toBe(400);
    expect((await own.get('/v1/pets/abc')).status).toBe(404);
    expect((await own.get('/v1/openapi.json')).status).toBe(200);
    expect((await own.call('GET', '/v1/pets', { key: 'wrong' })).status).toBe(401);
  });

  test('a good key that is not known yet is no 401', async () => {
    expect((await gateway.call('GET', '/v1/pets', { key: generateApiKey() })).status).toBe(503);
  });

  test('the log has the cause under the request id, the answer has not', async () => {
    const { headers, text } = await gateway.get('/v1/pets');
    const line = gateway.logs.find(({ level, requestId }) => level === 50 && requestId === headers.get('x-request-id'));
    expect(line).toHaveProperty('err.message');
    expect(text).toBe(
      '{"code":"service_unavailable","message":"The service is temporarily unavailable; try again shortly.","status":503}',
    );
  });
});

describeOnMysql('503 › the way to the server', (engine) => {
  let proxy: TcpProxy;
  let gateway: CheckedGateway;
  let port: number;
  beforeAll(async () => {
    const url = await engine.freshDatabase();
    port = Number(new URL(url).port);
    proxy = await startTcpProxy(url);
    gateway = await startCheckedGateway(engine, { DATABASE_URL: proxy.url });
  });

  /** The status of the next answer. A 503 at once counts; one after a wait for the connection may be a machine's that is held up. */
  const nextStatus = async () => {
    const askedAt = performance.now();
    const { status } = await gateway.get('/v1/pets');
    return !(status === 503 && performance.now() - askedAt > 2000) && status;
  };

  it.each(REQUESTS)('is cut: %s %s, and works again when it is mended', async (...request) => {
    await gateway.get('/v1/pets');
    proxy.move(await freePort());
    proxy.cut();
    await expectUnavailable(gateway, request);
    proxy.move(port);
    expect(await eventually(nextStatus, 15_000, 'it is connected')).toBe(200);
  });

  test('is silent: every operation answers within five seconds, and works again', async () => {
    await gateway.get('/v1/pets');
    proxy.swallowAnswersTo(/^/);
    await Promise.all(REQUESTS.map((request) => expectUnavailable(gateway, request)));
    proxy.swallowAnswersTo(undefined);
    const worksAgain = async () => (await gateway.get('/v1/pets')).status === 200;
    await eventually(worksAgain, 15_000, 'it works again'); // what was begun in the silence has its time to end
  });
});
