import { expect, test } from 'vitest';
import { createLog } from '../../src/gateway/log.ts';
import { createMetrics } from '../../src/gateway/metrics.ts';
import { createRoutes } from '../../src/gateway/routes.ts';
import type { Stores } from '../../src/gateway/store/store.ts';
import { PETSTORE } from '../../src/petstore/petstore.ts';
import { callOf } from '../support/calls.ts';
import { sendRaw } from '../support/client.ts';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { eventually, sumMetric } from '../support/load.ts';

/** The probes of a gateway, and how often they looked at the database or read the meters. */
function probesOf() {
  const counts = { looks: 0, reads: 0 };
  const { open } = createRoutes({
    service: PETSTORE,
    config: { graphiql: false, publicPath: '', adminPort: undefined },
    log: createLog('silent', { write() {} }),
    metrics: createMetrics(() => ({ used: 0, free: 0, waiting: 0 })),
    stores: (() => expect.fail('no probe reads a store')) as unknown as Stores, // called for no probe
    async checkReady() {
      counts.looks++;
      return { database: 'ok' };
    },
    isDraining: () => false,
    async collectMetrics() {
      counts.reads++;
      return 'all_is_well 1';
    },
    noteDeprecatedUse() {},
  });
  const ask = async (path: string): Promise<unknown> => {
    const answer = await open.find((route) => route.path === path)?.handle(callOf({ path }));
    return answer?.body;
  };
  return { counts, ask };
}

test.each([
  ['/livez', '{"status":"ok"}', { looks: 0, reads: 0 }],
  ['/readyz', '{"status":"ok","database":"ok"}', { looks: 1, reads: 0 }],
  ['/metrics', 'all_is_well 1', { looks: 0, reads: 1 }],
])('%s needs no key: a flood of it is work once a second at most', async (path, body, expected) => {
  const { counts, ask } = probesOf();
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask(path)));
  answers.push(await ask(path)); // after the others, and within the second
  expect([...new Set(answers)]).toEqual([body]);
  expect(counts).toEqual(expected);
});

test('probes are logged at level debug, those that fail at level info and counted', async () => {
  const gateway = await startGateway(SQLITE, { LOG_LEVEL: 'debug' });
  const { debug, info } = { debug: 20, info: 30 }; // as pino numbers them
  const ask = async (path: string) => (await gateway.request(path)).status;
  const asked = ['/livez', '/readyz', '/metrics', '/', '/livez/'];
  for (const path of asked) await ask(path);
  gateway.drain();
  expect([await ask('/livez'), await ask('/readyz')]).toEqual([200, 503]);
  const lines = () => gateway.logs.filter(({ msg }) => msg === 'request');
  await eventually(() => lines().length === asked.length + 2, 5000, 'all is logged');
  expect(lines().map(({ path, level }) => [path, level])).toEqual([
    ...['/livez', '/readyz', '/metrics'].map((path) => [path, debug]),
    ...['/', '/livez/'].map((path) => [path, info]),
    ['/livez', debug],
    ['/readyz', info],
  ]);
  const page = await gateway.metrics.registry.metrics();
  expect(sumMetric(page, 'http_requests_failed_total', 'api="other"', 'status="503"')).toBe(1);
  expect(sumMetric(page, 'http_requests_failed_total')).toBe(1);
});

test('while it drains, what is refused unread closes its connection, too', async () => {
  const gateway = await startGateway(SQLITE);
  gateway.drain();
  for (const target of ['http://', '/v1/pets']) {
    const answer = await sendRaw(gateway.port, `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(answer, target).toMatch(/^HTTP\/1\.1 40[01] .*\r\nConnection: close\r\n/s);
  }
});
