import { expect, test } from 'vitest';
import { createMetrics } from '../../src/gateway/metrics.ts';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { describeEachEngine } from '../support/engines.ts';
import { sumMetric } from '../support/load.ts';
import { prepareDatabase } from '../support/prepared.ts';

const HOUR_MS = 3_600_000;
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS);

describeEachEngine('keys that expire within a week', (engine) => {
  test('are counted: valid ones without a successor', async () => {
    const { keys } = await prepareDatabase(engine);
    const create = async (hours: number | null) =>
      (await keys.create({ name: 'key', expiresAt: hours === null ? null : inHours(hours) })).id as Int64;
    const counts: number[] = [];
    const count = async () => counts.push(await keys.countExpiring());
    for (const hours of [null, -1, 7 * 24 + 1]) await create(hours);
    await count();
    const [soon, revoked] = [await create(7 * 24 - 1), await create(1)];
    await count();
    await keys.revoke(revoked);
    await count();
    // Its lifetime is the successor's, too, which expires as soon: one of the two is to be replaced.
    const successor = (await keys.rotate(soon, HOUR_MS))?.created?.id as Int64;
    await count();
    const last = (await keys.rotate(successor, HOUR_MS))?.created?.id as Int64;
    await count();
    await keys.revoke(last); // whoever was to use it has none: the one before it ends in an hour
    await count();
    expect(counts).toEqual([0, 2, 1, 1, 1, 1]);
  });

  test('one of a month is counted when it ends after its rotation only if nothing follows it', async () => {
    const { keys } = await prepareDatabase(engine);
    const { id } = await keys.create({ name: 'key', expiresAt: inHours(30 * 24) });
    const next = (await keys.rotate(id as Int64, HOUR_MS))?.created?.id as Int64;
    expect(await keys.countExpiring()).toBe(0);
    await keys.revoke(next);
    expect(await keys.countExpiring()).toBe(1);
  });
});

test('no scrape waits for the count, which is made once a minute at most', async () => {
  const { promise, resolve } = Promise.withResolvers<number>();
  let asked = 0;
  const countExpiring = () => {
    asked++;
    return promise;
  };
  const { registry } = createMetrics(
    () => ({ used: 0 }),
    () => 0,
    countExpiring,
  );
  const shown = async () => sumMetric(await registry.metrics(), 'api_keys_expiring');
  expect([await shown(), await shown()]).toEqual([0, 0]); // the database does not answer
  resolve(3);
  await promise;
  expect([await shown(), asked]).toEqual([3, 1]);
});
