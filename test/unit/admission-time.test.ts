import type { Context } from 'koa';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { KEY_LOOKUP_MS, RATE_COUNT_MS, REQUEST_MS } from '../../src/gateway/deadlines.ts';
import { createAdmission } from '../../src/gateway/http/admission.ts';
import type { Authenticator } from '../../src/gateway/keys/authenticator.ts';
import type { RateLimit } from '../../src/gateway/keys/rate-limit.ts';
import { shareLimitsOf } from '../../src/gateway/load/shares.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const after = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** What becomes of a request whose key is looked up for so long, and is believed for so long after that. */
async function admitOne(lookUpMs: number, believedMs: number, rateLimit?: RateLimit) {
  const look = vi.fn(async () => {
    await after(lookUpMs);
    return { key: { id: '1', readOnly: false }, validUntil: performance.now() + believedMs };
  });
  const authenticator = { findCached: () => undefined, lookUp: look } as unknown as Authenticator;
  const admission = createAdmission({
    authenticator,
    usage: { noteUse() {}, noteDeprecatedUse() {}, close: async () => {} },
    metrics: {} as never, // of no use here
    bodyLimitBytes: 65_536,
    limits: shareLimitsOf(1),
    rateLimit,
  });
  const ctx = { req: { headers: {} }, res: { closed: false, on() {} }, state: {}, set() {} } as unknown as Context;
  const startedAt = performance.now();
  let endsAfter: number | undefined;
  const work = async ({ deadline }: { deadline: number }) => {
    endsAfter = deadline - startedAt;
  };
  const done = admission.admit(ctx, () => admission.run(ctx, work)).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(2 * REQUEST_MS);
  return { refusal: await done, endsAfter, lookUps: look.mock.calls.length };
}

test('the time of a request holds the look-up of its key and the wait for its count', async () => {
  const { endsAfter } = await admitOne(300, 4000, () => after(RATE_COUNT_MS));
  expect(endsAfter).toBeCloseTo(REQUEST_MS, -1);
});

test('a key that is not believed any more is looked up again', async () => {
  const { refusal, lookUps } = await admitOne(KEY_LOOKUP_MS - 10, 0);
  expect([refusal, lookUps]).toEqual([undefined, 2]);
});

test('unless there is no time for it: 503 rather than an answer that comes too late', async () => {
  const { refusal, endsAfter, lookUps } = await admitOne(KEY_LOOKUP_MS + 10, 0);
  expect(refusal).toMatchObject({ code: 'service_unavailable', headers: { 'Retry-After': '1' } });
  expect([endsAfter, lookUps]).toEqual([undefined, 1]);
});
