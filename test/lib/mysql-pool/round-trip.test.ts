import { afterEach, expect, test, vi } from 'vitest';
import { createRoundTrip } from '../../../src/lib/mysql-pool/round-trip.ts';

afterEach(() => void vi.useRealTimers());

/** A round trip, and what measures work that takes `ms`, begun `afterMs` later. */
function createMeasured() {
  vi.useFakeTimers({ toFake: ['performance'] });
  const roundTrip = createRoundTrip();
  const measure = async (ms: number, afterMs = 0) => {
    vi.advanceTimersByTime(afterMs);
    await roundTrip.measure(async () => vi.advanceTimersByTime(ms));
    return roundTrip.ms();
  };
  return { roundTrip, measure };
}

test('the round trip is not known at first, then the shortest', async () => {
  const { roundTrip, measure } = createMeasured();
  expect(roundTrip.ms()).toBe(0);
  expect([await measure(3), await measure(1), await measure(2)]).toEqual([3, 1, 1]);
});

test('the shortest time counts for 30 to 60 s, however rarely something is measured', async () => {
  const { measure } = createMeasured();
  expect([await measure(1), await measure(9, 29_000), await measure(8, 2000)]).toEqual([1, 1, 1]);
  expect([await measure(9, 29_000), await measure(9, 2000)]).toEqual([1, 8]);
  expect(await measure(20, 61_000)).toBe(20);
});

test('what fails is not measured', async () => {
  const { roundTrip, measure } = createMeasured();
  await measure(5);
  await expect(roundTrip.measure(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(roundTrip.ms()).toBe(5);
});
