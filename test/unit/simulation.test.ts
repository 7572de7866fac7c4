import { describe, expect, test } from 'vitest';
import { calibrate, fitLine } from '../../bench/simulation/costs.ts';
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

/** Many clients, each of which asks again at once. */
const CROWD = { clients: 64, clientMs: 0 };
const GETS = { list: 0, get: 1, create: 0 };
const LISTS = { list: 1, get: 0, create: 0 };

describe('the simulation', () => {
  test('gives the same for the same seed, and something else for another', async () => {
    const [first, again, other] = [
      await simulate(SYSTEM),
      await simulate(SYSTEM),
      await simulate({ ...SYSTEM, seed: 8 }),
    ];
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
    expect(first.perSecond).toBeGreaterThan(400);
  });

  test.each([
    ['by chance', { perSecond: 800 }],
    ['again at once', { clients: 20, clientMs: 0.05 }],
  ] as const)('keeps the law of Little when requests come %s: under way = throughput × time', async (_how, load) => {
    // Clients share the machine of the gateway.
    const { perSecond, meanMs, underWay } = await simulate({ ...SYSTEM, gatewayCores: 2, load, seconds: 1 });
    expect(underWay / ((perSecond * meanMs) / 1000)).toBeCloseTo(1, 1);
  });

  test('answers what comes while there is room, without a queue', async () => {
    const { perSecond, p50Ms } = await simulate({ ...SYSTEM, load: { perSecond: 50 }, seconds: 4 });
    expect(perSecond).toBeGreaterThan(40);
    expect(perSecond).toBeLessThan(60);
    expect(p50Ms).toBeLessThan(2);
  });

  test('answers as many as the thread of a worker can, however many clients ask', async () => {
    const one = await simulate({ ...SYSTEM, mix: GETS, load: CROWD });
    // A request has its own 0.2 ms, and a 32nd of a statement's at the least.
    expect(one.perSecond).toBeLessThanOrEqual(1000 / (0.2 + 0.2 / 32));
    expect(one.perSecond).toBeGreaterThan(1000 / (0.2 + 0.2 / 4));
    const two = await simulate({ ...SYSTEM, mix: GETS, load: CROWD, workers: 2, gatewayCores: 2 });
    expect(two.perSecond / one.perSecond).toBeGreaterThan(1.7);
  });

  test('answers as many as the cores of the database can', async () => {
    const costs = { ...COSTS, databaseMs: 0, databaseEachMs: 2 };
    const only = { costs: { ...SYSTEM.costs, get: costs }, mix: GETS, load: CROWD };
    const found = await simulate({ ...SYSTEM, ...only, databaseCores: 1, seconds: 4 });
    expect(found.perSecond).toBeLessThanOrEqual(500 * 1.05); // a batch that was begun before may end
    expect(found.perSecond).toBeGreaterThan(450);
    expect(found.databaseCores).toBeCloseTo(1, 1);
  });

  test('counts what a database uses among the cores of its gateways only where it shares their machine', async () => {
    const beside = await simulate(SYSTEM);
    const shared = await simulate({ ...SYSTEM, databaseCores: 0 });
    expect(shared.databaseCores).toBe(shared.gatewayCores);
    expect(shared.gatewayCores).toBeCloseTo(beside.gatewayCores + beside.databaseCores, 1);
    expect(beside.databaseCores).toBeGreaterThan(0);
  });

  test('makes few statements of many requests beside the database, as the gateway does', async () => {
    const near = await simulate({ ...SYSTEM, mix: LISTS, load: CROWD });
    const alone = await simulate({ ...SYSTEM, mix: LISTS, load: { clients: 1, clientMs: 0 } });
    expect(near.statementsPerRequest).toBeLessThan(0.3);
    expect(alone.statementsPerRequest).toBeCloseTo(1, 1);
  });

  test('leaves the timers of its process as they were', async () => {
    const before = [setTimeout, setImmediate, performance.now, Math.random];
    await simulate({ ...SYSTEM, seconds: 0.1 });
    expect([setTimeout, setImmediate, performance.now, Math.random]).toEqual(before);
  });
});

describe('its costs', () => {
  test('are the line through what was measured', () => {
    const { base, slope } = fitLine([1, 0.5, 0.25, 0.1].map((x) => [x, 0.3 + 0.2 * x]));
    expect([base, slope]).toEqual([expect.closeTo(0.3), expect.closeTo(0.2)]);
    expect(
      fitLine([
        [1, 1],
        [2, 0.5],
      ]),
    ).toEqual({ base: 0.75, slope: 0 });
  });

  test('are missing when the engine was not measured', () => {
    expect(() => calibrate({ operations: [] }, 'MariaDB')).toThrow('has no');
  });
});
