import { EventEmitter } from 'node:events';
import type { Context } from 'koa';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Deadline, remainingMs } from '../../src/gateway/deadline.ts';
import { REQUEST_MS } from '../../src/gateway/deadlines.ts';
import { createAdmission } from '../../src/gateway/http/admission.ts';
import type { ValidKey } from '../../src/gateway/keys/authenticator.ts';
import { shareLimitsOf } from '../../src/gateway/load/shares.ts';
import { createMetrics } from '../../src/gateway/metrics.ts';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';

const MB = 2 ** 20;
/** What all keys together may hold; one may have half of it. */
const ALL_BYTES = 256 * MB;
const ONE_KEY_BYTES = ALL_BYTES / 2;

/** An admission whose keys are all as `readOnly` says when they are looked up, which `lookUps` counts. */
function admit({ readOnly = false } = {}) {
  const counts = { lookUps: 0 };
  const key: ValidKey['key'] = {
    id: 'key',
    ownerId: 'key',
    name: 'test',
    prefix: '',
    readOnly,
    createdAt: new Date(),
    lastUsedAt: null,
    expiresAt: null,
    revokedAt: null,
  };
  const metrics = createMetrics(() => ({ used: 0, free: 0, waiting: 0 }));
  const admission = createAdmission({
    authenticator: {
      findCached: () => undefined,
      async lookUp() {
        counts.lookUps++;
        return { key, validUntil: Number.POSITIVE_INFINITY, queriedAt: 0 };
      },
    },
    usage: { noteUse() {}, noteDeprecatedUse() {}, close: async () => {} },
    metrics,
    bodyLimitBytes: 4 * MB,
    limits: { ...shareLimitsOf(1), bytes: ALL_BYTES },
    rateLimit: undefined,
  });
  return { admission, counts, metrics };
}

/** A request of a key that has been let in. */
function requestOf({ closed = false, headers = {}, ...state }: Record<string, unknown> = {}): Context {
  const known = { keyId: 'key', mayWrite: true, keyValidUntil: Number.POSITIVE_INFINITY, ...state };
  return { state: known, req: { headers }, res: Object.assign(new EventEmitter(), { closed }) } as never; // what admission reads
}

const never = () => new Promise<never>(() => {});

describe('a body is counted', () => {
  test.each([
    ['as long as it says', { 'content-length': String(2 * MB) }, 2 * MB],
    ['as the longest when it does not say', {}, 4 * MB],
    ['as the longest when it says more', { 'content-length': String(400 * MB) }, 4 * MB],
    ['as 16 KiB when it says less', { 'content-length': '1' }, 16_384],
  ])('%s', async (_how, headers, bytes) => {
    const { admission } = admit();
    const hold = () => admission.holdBody(requestOf({ headers }), never);
    const most = ONE_KEY_BYTES / bytes;
    for (let count = 0; count < most; count++) void hold();
    await expect(hold()).rejects.toMatchObject({ code: 'too_many_requests' });
  });

  test('until it is done with, also where that fails', async () => {
    const { admission } = admit();
    const fail = () => Promise.reject(new Error('no JSON'));
    for (let count = 0; count < 40; count++) {
      await expect(admission.holdBody(requestOf(), fail)).rejects.toThrow('no JSON');
    }
  });
});

test('of the memory of a container, a worker lets bodies have its part', async () => {
  vi.spyOn(process, 'constrainedMemory').mockReturnValue(64 * MB);
  const gateway = await startGateway(SQLITE, { WORKERS: '4', BODY_LIMIT: String(3 * MB) });
  vi.restoreAllMocks();
  const create = (length: number) => gateway.createPet({ name: 'x'.repeat(length), categoryId: 1 });
  expect((await create(2.1 * MB)).status).toBe(429); // an eighth of a quarter is 2 MB
  expect((await create(0.5 * MB)).status).toBe(201);
});

describe('in flight', () => {
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  /** The deadline that work is given. */
  const deadlineOf = async (ctx: Context): Promise<Deadline> => {
    const { promise, resolve } = Promise.withResolvers<Deadline>();
    await admit().admission.run(ctx, async ({ deadline }) => resolve(deadline));
    return promise;
  };

  test('the look-up of the key is a part of the time', async () => {
    expect(remainingMs(await deadlineOf(requestOf()))).toBeGreaterThan(REQUEST_MS - 1000);
    const left = remainingMs(await deadlineOf(requestOf({ keyCheckMs: 2500 })));
    expect(left).toBeLessThanOrEqual(REQUEST_MS - 2500);
    expect(left).toBeGreaterThan(REQUEST_MS - 3500);
  });

  test('a request whose client has gone is not run, and is not in flight', async () => {
    const { admission } = admit();
    let worked = 0;
    const work = async () => void worked++;
    for (let count = 0; count < 300; count++) await admission.run(requestOf({ closed: true }), work);
    expect(worked).toBe(0);
    await admission.run(requestOf(), work);
    expect(worked).toBe(1);
  });

  test.each([
    ['is believed no more is looked up again, with its rights of now', 0, 1, false],
    ['is believed is not', Number.POSITIVE_INFINITY, 0, true],
  ])('a key that %s', async (_when, keyValidUntil, lookUps, mayWrite) => {
    const { admission, counts } = admit({ readOnly: true });
    const ctx = requestOf({ keyValidUntil });
    await admission.run(ctx, async () => expect(ctx.state.mayWrite).toBe(mayWrite));
    expect(counts.lookUps).toBe(lookUps);
    expect.assertions(2);
  });

  test('what an answer reserves is free again when its work fails', async () => {
    const { admission } = admit();
    const reserveAndFail = async ({ reserve }: { reserve(objects: number): Promise<void> | undefined }) => {
      await reserve(1000);
      throw new Error('on purpose');
    };
    for (let count = 0; count < 5; count++) {
      await expect(admission.run(requestOf(), reserveAndFail)).rejects.toThrow('on purpose');
    }
  });

  test('a key that is not believed any more when its turn comes is looked up again', async () => {
    const { admission, counts } = admit({ readOnly: true });
    const others = Array.from({ length: 128 }, () => requestOf());
    for (const other of others) await admission.run(other, async () => {});
    const now = performance.now();
    const late = requestOf({ keyValidUntil: now + 1000 });
    const done = admission.run(late, async () => {});
    vi.spyOn(performance, 'now').mockReturnValue(now + 1500);
    others[0]?.res.emit('close');
    await done;
    expect([counts.lookUps, late.state.mayWrite]).toEqual([1, false]);
  });

  test('while the process is behind, a second request of a key is refused and counted, the first one is not', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] });
    const { admission, metrics } = admit();
    const now = performance.now();
    const clock = vi.spyOn(performance, 'now').mockReturnValue(now + 3000);
    vi.advanceTimersByTime(100); // which took 3 seconds
    clock.mockReturnValue(now + 5000);
    vi.advanceTimersByTime(100); // which took 2 seconds
    let worked = 0;
    void admission.run(requestOf(), async () => {
      worked++;
      await never();
    });
    expect(worked).toBe(1);
    await expect(admission.run(requestOf(), never)).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await metrics.registry.getSingleMetricAsString('http_requests_shed_total')).toMatch(/ 1$/);
    for (let ms = 100; ms <= 1000; ms += 100) {
      clock.mockReturnValue(now + 5000 + ms);
      vi.advanceTimersByTime(100); // which took as long
    }
    await admission.run(requestOf(), async () => void worked++);
    expect(worked).toBe(2);
  });

  test.each([3, 75, 86_400])('after one pause of %i s, as of SIGSTOP, no request is refused', async (seconds) => {
    vi.useFakeTimers({ toFake: ['setInterval'] });
    const { admission } = admit();
    let now = performance.now();
    const clock = vi.spyOn(performance, 'now');
    const pass = (ms: number) => {
      now += ms;
      clock.mockReturnValue(now);
      vi.advanceTimersByTime(100);
    };
    for (let turn = 0; turn < 50; turn++) pass(300); // busy, which is no overload
    pass(seconds * 1000);
    let worked = 0;
    for (let turn = 0; turn < 20; turn++) {
      await admission.run(requestOf(), async () => void worked++);
      pass(300); // as before
    }
    expect(worked).toBe(20);
  });
});
