import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { deadlineIn, remainingMs, watchDeadlines } from '../../../src/lib/deadline/deadline.ts';
import { afterFile } from '../../support/engines.ts';
import { listenOnFreePort } from '../../support/served-app.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'setImmediate'] }));
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

test('an answer that came during a pause of the process is read before the next look', async () => {
  vi.useRealTimers();
  const server = createServer();
  const asking = connect(await listenOnFreePort(server), '127.0.0.1');
  const [answering]: Socket[] = await once(server, 'connection');
  afterFile(() => asking.destroy());
  const order: string[] = [];
  asking.once('data', () => order.push('answer'));
  const { promise: looked, resolve } = Promise.withResolvers<void>();
  const watch = watchDeadlines(() => {
    order.push('look');
    resolve();
    return false;
  });
  // Between the turn's input and the next timers.
  setImmediate(() => {
    watch();
    answering?.end('answer');
    const pausedAt = performance.now();
    while (performance.now() - pausedAt < 200);
  });
  await looked;
  expect(order).toEqual(['answer', 'look']);
});
