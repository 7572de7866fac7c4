import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { throttle } from '../../src/gateway/caches.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** Work whose runs the test resolves; the answer is the number of the run. */
function heldWork() {
  const runs: PromiseWithResolvers<void>[] = [];
  const ask = throttle(1000, async () => {
    const run = Promise.withResolvers<void>();
    const number = runs.push(run);
    await run.promise;
    return number;
  });
  return { ask, runs };
}

test('a call within the period gets the answer of the last run; a later call starts a new run', async () => {
  const { ask, runs } = heldWork();
  const first = ask();
  runs[0]?.resolve();
  expect(await first).toBe(1);
  vi.advanceTimersByTime(999);
  expect(await ask()).toBe(1);
  vi.advanceTimersByTime(1);
  const second = ask();
  runs[1]?.resolve();
  expect(await second).toBe(2);
});

test('all calls during a run that is longer than the period get its answer', async () => {
  const { ask, runs } = heldWork();
  const first = ask();
  vi.advanceTimersByTime(5000);
  const meanwhile = ask();
  expect(runs).toHaveLength(1);
  runs[0]?.resolve();
  expect(await Promise.all([first, meanwhile])).toEqual([1, 1]);
});

test('a failed run counts for its period; a later call starts a new run', async () => {
  const { ask, runs } = heldWork();
  const first = ask();
  runs[0]?.reject(new Error('on purpose'));
  await expect(first).rejects.toThrow('on purpose');
  await expect(ask()).rejects.toThrow('on purpose'); // within the period
  vi.advanceTimersByTime(1000);
  const second = ask();
  runs[1]?.resolve();
  expect(await second).toBe(2);
});
