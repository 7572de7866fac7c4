import { afterEach, expect, test, vi } from 'vitest';
import { longDay } from '../../src/gateway/deprecations.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

test.each(['Pacific/Honolulu', 'UTC', 'Pacific/Auckland'])('a day is that of UTC, also in %s', (zone) => {
  vi.stubEnv('TZ', zone);
  expect(longDay(new Date('2031-01-01T00:00:00Z'))).toBe('1 January 2031');
  expect(longDay(new Date('2030-12-31T23:59:59Z'))).toBe('31 December 2030');
});
