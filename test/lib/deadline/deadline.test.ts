import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { deadlineIn, remainingMs, watchDeadlines } from '../../../src/lib/deadline/deadline.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

test('the time left to a deadline becomes less, and never negative', () => {
  const deadline = deadlineIn(100);
  vi.advanceTimersByTime(30);
  expect(remainingMs(deadline)).toBe(70);
  vi.advanceTimersByTime(100);
  expect(remainingMs(deadline)).toBe(0);
});

test('a watch looks until it is told to stop, by one timer, and may be started again', () => {
  let looks = 0;
  const watch = watchDeadlines(() => ++looks % 3 > 0);
  for (let times = 1; times <= 2; times++) {
    for (const _wait of ['one', 'another']) watch();
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(10_000);
    expect([looks, vi.getTimerCount()]).toEqual([3 * times, 0]);
  }
});
