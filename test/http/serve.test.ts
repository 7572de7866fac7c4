import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { KEY_LOOKUP_MS, RATE_COUNT_MS, REQUEST_MS, SHARE_WAIT_MS } from '../../src/gateway/deadlines.ts';
import { ApiError } from '../../src/gateway/errors.ts';
import { shareLimitsOf, watchEventLoop } from '../../src/gateway/http/admission.ts';
import { writeRestError } from '../../src/gateway/http/answer.ts';
import type { AdmittedCall, Answer, Route } from '../../src/gateway/http/call.ts';
import { createNotFound } from '../../src/gateway/http/router.ts';
import { createServe, type ServeParts } from '../../src/gateway/http/serve.ts';
import { createLog } from '../../src/gateway/log.ts';
import { remainingMs } from '../../src/lib/deadline/deadline.ts';
import { callOf, connectionOf } from '../support/calls.ts';

const MB = 2 ** 20;
/** What all keys together may hold; one may have half of it. */
const ALL_BYTES = 256 * MB;
const log = createLog('silent', { write() {} });
const USUAL = { readOnly: false, lookUpMs: 0, believedMs: Number.POSITIVE_INFINITY, bytes: ALL_BYTES };

/** Serves `/books` with one handler. Keys are valid for `believedMs`, after a look-up of `lookUpMs`; look-ups are counted. */
function serveBooks(handle: (call: AdmittedCall) => Promise<Answer>, given: Partial<ServeParts & typeof USUAL> = {}) {
  const { readOnly, lookUpMs, believedMs, bytes, ...parts } = { ...USUAL, ...given };
  const counts = { lookUps: 0, shed: 0 };
  const common = { path: '/books', isDeprecated: false, takesBody: false, changes: false, handle };
  const routes: Route[] = [
    {
      ...common,
      methods: ['GET', 'HEAD'],
      operation: 'listBooks',
      headers: { Link: '</v2>; rel="successor-version"' },
    },
    { ...common, methods: ['PUT'], changes: true },
    { ...common, methods: ['POST'], changes: true, takesBody: true },
  ];
  const lookUp = async () => {
    counts.lookUps++;
    if (lookUpMs > 0) await new Promise((resolve) => setTimeout(resolve, lookUpMs));
    const caller = { keyId: 'key', ownerId: 'key', mayWrite: !readOnly };
    return { caller, validUntil: performance.now() + believedMs, queriedAt: 0 };
  };
  const serve = createServe({
    routes,
    open: [{ path: '/open', operation: 'open', handle: async () => ({ status: 200, body: 'open' }) }],
    basePath: '/v1',
    notFound: createNotFound([], '/docs'),
    apiAt: () => ({ name: 'rest', writeError: writeRestError }),
    authenticator: { findCached: () => undefined, lookUp },
    usage: { noteUse() {}, noteDeprecatedUse() {}, drain() {}, close: async () => {} },
    rateLimit: undefined,
    limits: { ...shareLimitsOf(1, 65_536), bytes },
    bodyLimitBytes: 4 * MB,
    isBehind: watchEventLoop().isBehind,
    noteDeprecatedUse() {},
    metrics: { countShedRequest: () => void counts.shed++ },
    log,
    ...parts,
  });
  /** The answer to a request of `/books`; `close` ends its connection. */
  const ask = (method = 'GET', headers: Record<string, string> = {}, { closed = false } = {}) => {
    const { request, response, close, endBody } = connectionOf({ closed, headers });
    const call = callOf({ method, path: '/books', headers: { authorization: 'Bearer key', ...headers } });
    return { answer: serve(call, request, response), call, close, endBody };
  };
  return { serve, ask, counts };
}

const done = async (): Promise<Answer> => ({ status: 200, body: 'done' });
const never = () => new Promise<never>(() => {});
const codeOf = (answer: Answer | undefined): unknown => JSON.parse(String(answer?.body)).code;

describe('the way of a request', () => {
  test('a key that may only read is refused a change whose body is unread, whatever it is, and nothing of a read', async () => {
    const { ask } = serveBooks(done, { readOnly: true });
    expect(codeOf(await ask('POST', { 'content-length': '7' }).answer)).toBe('forbidden');
    expect(await ask().answer).toMatchObject({ status: 200, body: 'done' });
  });

  test('what the log will tell is known, of a refusal too', async () => {
    const { ask } = serveBooks(async () => {
      throw new ApiError('not_found', 'No such book.');
    });
    const { answer, call } = ask();
    expect(await answer).toMatchObject({ status: 404, headers: { Link: '</v2>; rel="successor-version"' } });
    expect(call.told).toEqual({ api: 'rest', operation: 'listBooks', keyId: 'key' });
  });

  test('each answer of a key has the headers of its rate limit, and beyond it nothing is done', async () => {
    const headers = { RateLimit: '"default";r=0;t=9' };
    const refusal = new ApiError('too_many_requests', 'Too many.');
    let isBeyond = false;
    const handle = vi.fn(done);
    const { ask } = serveBooks(handle, { rateLimit: async () => ({ headers, ...(isBeyond && { refusal }) }) });
    expect(await ask().answer).toMatchObject({ status: 200, headers });
    isBeyond = true;
    expect(await ask().answer).toMatchObject({ status: 429, headers: { ...headers, 'Retry-After': '1' } });
    expect(handle).toHaveBeenCalledTimes(1);
  });

  test('a fault of a handler is a 500 that tells nothing of it', async () => {
    const answer = await serveBooks(async () => {
      throw new Error('secret');
    }).ask().answer;
    expect([answer?.status, String(answer?.body).includes('secret')]).toEqual([500, false]);
  });
});

describe('a body is counted', () => {
  test.each<readonly [string, Readonly<Record<string, string>>, number]>([
    ['as long as it says', { 'content-length': String(2 * MB) }, 2 * MB],
    ['as the longest when it does not say', {}, 4 * MB],
    ['as 128 KiB when it says less and has still to come', { 'content-length': '1' }, 131_072],
  ])('%s', async (_how, headers, bytes) => {
    const { ask } = serveBooks(never);
    const json = { ...headers, 'content-type': 'application/json' };
    const most = ALL_BYTES / 2 / bytes;
    for (let count = 0; count < most; count++) void ask('POST', json);
    expect(codeOf(await ask('POST', json).answer)).toBe('too_many_requests');
  });

  test.each([1, 2, 4])(
    'no more than it says when it has come: 128 beside lists that are made, in 512 MB with %i workers',
    async (workers) => {
      const limits = shareLimitsOf(workers, 65_536, 352 * MB, 512 * MB);
      const handle = async ({ method, reserve }: AdmittedCall) => {
        if (method === 'GET') await reserve(20);
        return never();
      };
      const { ask } = serveBooks(handle, { limits, bodyLimitBytes: 65_536 });
      for (let list = 0; list < 30; list++) void ask();
      const refused: string[] = [];
      for (let count = 0; count < 128; count++) {
        const { answer, endBody } = ask('POST', { 'content-length': '1', 'content-type': 'application/json' });
        void answer.then((given) => refused.push(String(given?.body)));
        await nextTurn();
        endBody();
      }
      expect(refused).toEqual([]);
    },
  );

  test('until it is done with, also where that fails', async () => {
    const { ask } = serveBooks(never);
    for (let count = 0; count < 40; count++) expect(codeOf(await ask('POST').answer)).toBe('unsupported_media_type');
  });
});

describe('an answer that nobody has read', () => {
  const LONG = 'x'.repeat(20_000);

  test.each([
    ['GET', undefined, 429],
    ['GET', true, 200],
    ['PUT', undefined, 200],
  ])(
    'is thrown away when it is one too many, unless it tells of a change: %s, handler says %s: %i',
    async (method, tellsChange, status) => {
      const handle = async () => ({ status: 200, body: LONG, ...(tellsChange && { tellsChange }) });
      const answer = await serveBooks(handle, { bytes: 9 }).ask(method).answer;
      expect([answer?.status, String(answer?.body).includes('have not been read')]).toEqual([status, status === 429]);
    },
  );

  test('keeps, thrown away, what Link tells of the operation, and names no next page', async () => {
    const { ask } = serveBooks(async () => ({ status: 200, headers: { Link: '<next>; rel="next"' }, body: LONG }), {
      bytes: 9,
    });
    expect((await ask().answer)?.headers?.Link).toBe('</v2>; rel="successor-version"');
  });

  test('counts until its connection closes; one made when the client had gone leaves no bytes counted', async () => {
    const gone = Promise.withResolvers<void>();
    const { ask } = serveBooks(
      async ({ querystring }) => {
        await (querystring === '' && gone.promise);
        return { status: 200, body: 'x'.repeat(60_000) }; // two of them are too many
      },
      { bytes: 100_000 },
    );
    const left = ask();
    left.close();
    gone.resolve();
    await left.answer;
    const read = ask();
    expect((await read.answer)?.status).toBe(200);
    expect((await ask().answer)?.status).toBe(429);
    read.close();
    expect((await ask().answer)?.status).toBe(200);
  });
});

describe('in flight', () => {
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  test('a request whose client has gone is not run, and is not in flight', async () => {
    const handle = vi.fn(done);
    const { ask } = serveBooks(handle);
    for (let count = 0; count < 300; count++) expect(await ask('GET', {}, { closed: true }).answer).toBeUndefined();
    expect(handle).not.toHaveBeenCalled();
    expect((await ask().answer)?.status).toBe(200);
  });

  test('a request is in flight until its answer is closed', async () => {
    const { ask } = serveBooks(done);
    for (let count = 0; count < 300; count++) {
      const { answer, close } = ask();
      expect((await answer)?.status).toBe(200);
      close();
    }
  });

  test('what an answer reserves is free again when its work fails', async () => {
    const { ask } = serveBooks(async ({ reserve }) => {
      await reserve(1000);
      throw new ApiError('bad_request', 'on purpose');
    });
    for (let count = 0; count < 5; count++) expect(codeOf(await ask().answer)).toBe('bad_request');
  });

  test('a request that a pause of the process has kept from its place gets time for memory, too', async () => {
    const limits = { ...shareLimitsOf(1, 65_536), inFlight: 2, waitMs: 400 };
    const work = Promise.withResolvers<void>();
    const handle = async ({ reserve }: AdmittedCall) => {
      await reserve(10_000);
      await work.promise;
      return done();
    };
    const { ask } = serveBooks(handle, { limits });
    const [first, second] = [ask(), ask()];
    await nextTurn();
    const pausedAt = performance.now();
    while (performance.now() - pausedAt < 700);
    await nextTurn();
    first.close(); // its place is free, its memory is not
    setTimeout(work.resolve, 50);
    expect((await second.answer)?.status).toBe(200);
  });

  test('while the process is behind, a second request of a key is refused and counted, the first one is not', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] });
    const handle = vi.fn(never);
    const { ask, counts } = serveBooks(handle);
    const now = performance.now();
    const clock = vi.spyOn(performance, 'now');
    for (const ms of [3000, 5000]) {
      clock.mockReturnValue(now + ms);
      vi.advanceTimersByTime(100); // which took seconds
    }
    const first = ask();
    await nextTurn();
    expect(handle).toHaveBeenCalledTimes(1);
    expect(codeOf(await ask().answer)).toBe('service_unavailable');
    expect(counts.shed).toBe(1);
    first.close();
  });
});

test.each([3, 75, 86_400])('after one pause of %i s, as of SIGSTOP, no request is refused', async (seconds) => {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  const { ask, counts } = serveBooks(done);
  let now = performance.now();
  const clock = vi.spyOn(performance, 'now');
  const pass = (ms: number) => {
    now += ms;
    clock.mockReturnValue(now);
    vi.advanceTimersByTime(100);
  };
  for (let turn = 0; turn < 50; turn++) pass(300); // busy, which is no overload
  pass(seconds * 1000);
  for (let turn = 0; turn < 20; turn++) {
    expect((await ask().answer)?.status).toBe(200); // each stays in flight: its connection is open
    pass(300); // as before
  }
  expect(counts.shed).toBe(0);
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('the time of a request', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  /** What becomes of a request whose key is looked up for so long, and is believed for so long after that. */
  async function askOne(lookUpMs: number, believedMs: number, rateMs = 0) {
    let leftMs: number | undefined;
    let mayWrite: boolean | undefined;
    const { ask, counts } = serveBooks(
      async ({ deadline, caller }) => {
        leftMs = remainingMs(deadline);
        ({ mayWrite } = caller);
        return done();
      },
      {
        ...{ lookUpMs, believedMs, readOnly: true },
        ...(rateMs > 0 && {
          rateLimit: () => new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), rateMs)),
        }),
      },
    );
    const { answer } = ask();
    await vi.advanceTimersByTimeAsync(2 * REQUEST_MS);
    return { answer: await answer, leftMs, mayWrite, lookUps: counts.lookUps };
  }

  test('holds the look-up of its key and the wait for its count', async () => {
    const { leftMs } = await askOne(300, 4000, RATE_COUNT_MS);
    expect(leftMs).toBeCloseTo(REQUEST_MS - 300 - RATE_COUNT_MS, -1);
  });

  /** A handler that reserves as much as an answer may have, and then works for so long. */
  const reserveAndWork =
    (ms: number) =>
    async ({ reserve }: AdmittedCall) => {
      await reserve(10_000);
      await new Promise((resolve) => setTimeout(resolve, ms));
      return done();
    };

  test('holds its waits for a place and for memory, which are two seconds together', async () => {
    const limits = { ...shareLimitsOf(1, 65_536), inFlight: 2 }; // one for each key
    const { ask } = serveBooks(reserveAndWork(2 * REQUEST_MS), { limits });
    const before = ask();
    const beganAt = performance.now();
    const waited = ask().answer.then((answer) => [codeOf(answer), performance.now() - beganAt]);
    await vi.advanceTimersByTimeAsync(1500);
    before.close(); // its place is free, its memory is not
    await vi.advanceTimersByTimeAsync(REQUEST_MS);
    expect(await waited).toEqual(['too_many_requests', expect.closeTo(SHARE_WAIT_MS, -1)]);
  });

  test('a key is checked again after a wait for memory', async () => {
    let isRevoked = false;
    const caller = { keyId: 'key', ownerId: 'key', mayWrite: true };
    const lookUp = async () => {
      if (isRevoked) throw new ApiError('unauthorized', 'Revoked.');
      return { caller, validUntil: performance.now() + 4000, queriedAt: 0 };
    };
    const { ask } = serveBooks(reserveAndWork(1500), { authenticator: { findCached: () => undefined, lookUp } });
    const all = [ask(), ask()].map(({ answer }) => answer);
    await vi.advanceTimersByTimeAsync(100);
    isRevoked = true;
    await vi.advanceTimersByTimeAsync(REQUEST_MS);
    expect((await Promise.all(all)).map((answer) => answer?.status)).toEqual([200, 401]);
  });

  test('a key that is not believed any more is looked up again, with its rights of now', async () => {
    const { answer, lookUps, mayWrite } = await askOne(KEY_LOOKUP_MS - 10, 0);
    expect([answer?.status, lookUps, mayWrite]).toEqual([200, 2, false]);
  });

  test('unless there is no time for it: 503 rather than an answer that comes too late', async () => {
    const { answer, leftMs, lookUps } = await askOne(KEY_LOOKUP_MS + 10, 0);
    expect(answer).toMatchObject({ status: 503, headers: { 'Retry-After': '1' } });
    expect([leftMs, lookUps]).toEqual([undefined, 1]);
  });
});
