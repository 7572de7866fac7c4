import { afterEach, expect, test, vi } from 'vitest';
import { createRateLimit } from '../../src/gateway/keys/rate-limit.ts';

afterEach(() => void vi.useRealTimers());

test.each([
  [0, '60'],
  [500, '60'], // rounded up: earlier would be in vain
  [59_999, '1'],
  [60_000, '60'], // of the next window
  [-3_600_000, '60'], // the clock was set back
])('%i ms into a window of a minute, %s seconds are left', async (ms, seconds) => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  const begun = Date.now();
  const limit = createRateLimit({ requests: 5, seconds: 60 });
  await limit('key');
  vi.setSystemTime(begun + ms); // timers stand still
  const counted = await limit('key');
  expect(counted?.headers.RateLimit).toMatch(new RegExp(`;t=${seconds}$`));
});

test('who is refused is told to come again when the window ends', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  const limit = createRateLimit({ requests: 1, seconds: 60 });
  await limit('key');
  vi.setSystemTime(Date.now() + 20_000);
  const refusal = { code: 'too_many_requests', headers: { 'Retry-After': '40' } };
  expect(await limit('key')).toMatchObject({ refusal });
});
