import { expect, test } from 'vitest';
import { type SystemOptions, simulate } from '../../bench/simulation/system.ts';

const COSTS = { requestMs: 0.2, gatewayMs: 0.2, databaseMs: 0.1, databaseEachMs: 0.1 };

const SYSTEM: SystemOptions = {
  seed: 7,
  gateways: 1,
  workers: 1,
  pool: 10,
  gatewayCores: 1,
  databaseCores: 4,
  roundTripMs: 0.2,
  proxyMs: 0,
  flushMs: 1,
  costs: { list: COSTS, get: COSTS, create: COSTS },
  mix: { list: 0.45, get: 0.45, create: 0.1 },
  load: { perSecond: 500 },
  seconds: 0.5,
};

test('the simulation gives the same for the same seed, and something else for another', async () => {
  const [first, again, other] = [
    await simulate(SYSTEM),
    await simulate(SYSTEM),
    await simulate({ ...SYSTEM, seed: 8 }),
  ];
  expect(again).toEqual(first);
  expect(other).not.toEqual(first);
  expect(first.perSecond).toBeGreaterThan(400);
});
