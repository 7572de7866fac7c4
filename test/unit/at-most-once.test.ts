import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { atMostOnce } from '../../src/at-most-once.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** Work that is done when it is told to be; its answer is the number of the run. */
function heldWork() {
  const runs: PromiseWithResolvers<void>[] = [];
  const ask = atMostOnce(1000, async () => {
    const run = Promise.withResolvers<void>();
    const number = runs.push(run);
    await run.promise;
    return number;
  });
  return { ask, runs };
}

test('who asks within the period gets the answer of the run before; who asks after it, of a new one', async () => {
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

test('a run that takes longer than the period is waited for by all', async () => {
  const { ask, runs } = heldWork();
  const first = ask();
  vi.advanceTimersByTime(5000);
  const meanwhile = ask();
  expect(runs).toHaveLength(1);
  runs[0]?.resolve();
  expect(await Promise.all([first, meanwhile])).toEqual([1, 1]);
});

test('a run that failed is not the last one', async () => {
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
