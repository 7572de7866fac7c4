import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, test } from 'vitest';
import { send } from '../support/client.ts';
import { SQLITE } from '../support/engines.ts';
import { eventually, readMetrics, sumMetric } from '../support/load.ts';
import { startPrepared } from '../support/prepared.ts';
import { msSince, RETRY_LATE } from '../support/stall-clock.ts';
import { sendHalf } from './half-sent.ts';
import { FAULT_SIGNALS, LAST_RESORT, startTwo, WITH_FAULTS, workerOf } from './workers-of.ts';

it.each(FAULT_SIGNALS)(
  'a fault that nothing catches, by %s: it is logged, requests under way end, exit code 1',
  async (signal) => {
    const { gateway, key } = await startPrepared(SQLITE, WITH_FAULTS);
    const half = await sendHalf(gateway.url, key, 'under way');
    gateway.child.kill(signal);
    await gateway.waitFor(LAST_RESORT);
    expect(await half.finish()).toMatch(/^HTTP\/1.1 201 /);
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
  },
);

const title =
  'the metrics are those of both workers, whichever is asked; of one that does not answer, in time, its last ones';
test(title, RETRY_LATE, async () => {
  const { gateway } = await startTwo(SQLITE);
  for (let round = 0; round < 10; round++) {
    const { status } = await send(`${gateway.url}/livez`, { headers: { connection: 'close' } });
    expect(status).toBe(200);
  }
  const counted = (page: string) => sumMetric(page, 'http_request_duration_seconds_count', 'operation="livez"');
  const pages = () => Promise.all(Array.from({ length: 60 }, () => readMetrics(gateway.url)));
  // The last request is counted when its connection has closed.
  await eventually(async () => (await pages()).every((page) => counted(page) === 10), 20_000, 'all, on every page');
  for (const page of await pages()) {
    expect([sumMetric(page, 'petstore_build_info'), sumMetric(page, 'http_requests_shed_total')]).toEqual([1, 0]);
    expect(page.match(/^# TYPE http_request_duration_seconds /gm)).toHaveLength(1);
  }
  const silent = await workerOf(gateway);
  process.kill(silent, 'SIGSTOP');
  await delay(1100); // a page is given again for a second: this one is to be made without the silent one
  // Connections that the silent one was given wait; one that the other was given is answered.
  const startedAt = performance.now();
  const asked = () => Array.from({ length: 6 }, () => readMetrics(gateway.url));
  const askAll = () => Promise.any([...asked(), delay(10_000, undefined)]).catch(() => undefined);
  const page = await eventually(askAll, 20_000, 'the metrics').finally(() => process.kill(silent, 'SIGCONT'));
  const ms = msSince(startedAt);
  expect(counted(page)).toBe(10);
  expect(ms, 'late').toBeLessThan(5000);
  gateway.child.kill('SIGTERM');
  await gateway.exited;
  expect(gateway.stderr()).toBe(''); // no warning of too many listeners
});
