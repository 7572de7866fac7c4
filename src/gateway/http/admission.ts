import type { Context } from 'koa';
import { type Deadline, remainingMs } from '../deadline.ts';
import { KEY_LOOKUP_MS, LAG_LIMIT_MS, REQUEST_MS } from '../deadlines.ts';
import { ApiError, serviceUnavailable } from '../errors.ts';
import type { Authenticator, ValidKey } from '../keys/authenticator.ts';
import type { RateLimit } from '../keys/rate-limit.ts';
import type { Usage } from '../keys/usage.ts';
import { createShares, type ShareLimits } from '../load/shares.ts';
import { createReservation, holdAnswer } from '../load/unread-answers.ts';
import type { Metrics } from '../metrics.ts';
import type { AdmittedRequest } from '../web/route.ts';

interface AdmissionParts {
  readonly authenticator: Authenticator;
  readonly usage: Usage;
  readonly metrics: Metrics;
  readonly bodyLimitBytes: number;
  /** The limits of all keys together. */
  readonly limits: ShareLimits;
  /** Undefined without RATE_LIMIT: then requests of a key are not counted. */
  readonly rateLimit: RateLimit | undefined;
}

/** The least memory that a request with a body counts, in bytes, even before any byte of the body has arrived. */
const BODY_LEAST_BYTES = 16_384;

/** The checks of both APIs before a handler: key and rate limit, memory for the body, and the key's share of the process. */
export type Admission = ReturnType<typeof createAdmission>;

/** Creates the admission of one process. */
export function createAdmission(parts: AdmissionParts) {
  const { authenticator, usage, metrics, bodyLimitBytes, limits, rateLimit } = parts;
  const shares = createShares(limits);
  const isBehind = watchEventLoop();

  const letIn = (ctx: Context, next: () => Promise<void>, { key, validUntil }: ValidKey): Promise<void> => {
    ctx.state.keyId = key.id;
    ctx.state.ownerId = key.ownerId;
    ctx.state.mayWrite = !key.readOnly;
    ctx.state.keyValidUntil = validUntil;
    usage.noteUse(key.id);
    if (rateLimit === undefined) return next();
    const counted = rateLimit(key.id, (field, value) => ctx.set(field, value));
    return noteWait(ctx, counted).then(next);
  };

  return {
    /**
     * Calls `next` for a request with a valid key within its rate limit. It runs before any byte of the body is read.
     * ApiError `unauthorized`, `too_many_requests`.
     */
    admit(ctx: Context, next: () => Promise<void>): Promise<void> {
      const { authorization } = ctx.req.headers;
      const cached = authenticator.findCached(authorization);
      if (cached !== undefined) return letIn(ctx, next, cached);
      return noteWait(ctx, authenticator.lookUp(authorization)).then((key) => letIn(ctx, next, key));
    },

    /** Counts the memory of a body while `next` reads and uses it. ApiError `too_many_requests` when the key has too much. */
    async holdBody({ req, state }: Context, next: () => Promise<void>): Promise<void> {
      const announced = Number(req.headers['content-length'] ?? bodyLimitBytes);
      const bytes = Math.max(Math.min(announced, bodyLimitBytes), BODY_LEAST_BYTES);
      const share = shares.of(state.keyId);
      if (!shares.hold(share, bytes)) {
        throw new ApiError('too_many_requests', 'Too many request bodies of this API key at once; try again shortly.');
      }
      try {
        await next();
      } finally {
        shares.free(share, bytes);
      }
    },

    /**
     * Runs `work`, after the body has been read, as a request in flight of its key, or queues it until the key's share has
     * room. ApiError `too_many_requests`, `unauthorized`, `service_unavailable`.
     */
    async run(ctx: Context, work: (admitted: Pick<AdmittedRequest, 'deadline' | 'reserve'>) => Promise<void>) {
      const startedAt = performance.now();
      const { state, res } = ctx;
      const deadline = startedAt + REQUEST_MS - (state.keyCheckMs ?? 0);
      const share = shares.of(state.keyId);
      // A key's only request is never shed: it does not cause the overload.
      if (share.inFlight > 0 && isBehind()) {
        metrics.countShedRequest();
        throw new ApiError('service_unavailable', 'The service is overloaded; try again shortly.');
      }
      const isAbandoned = () => res.closed;
      const { reserve, free } = createReservation(shares, share, limits.bytes, isAbandoned);
      await shares.run(share, startedAt, isAbandoned, async () => {
        if (res.closed) return share.release(); // the client has gone
        // In flight until the answer is sent: a client that does not read its answers delays only requests of its own key.
        res.on('close', share.release);
        if (performance.now() >= state.keyValidUntil) await checkAgain(authenticator, ctx, deadline);
        await work({ deadline, reserve }).finally(free);
        holdAnswer(shares, ctx, share);
      });
    },
  };
}

/** Checks the key after a slow body or a wait in the queue. It queries the database only if the cache entry has expired. */
async function checkAgain(authenticator: Authenticator, ctx: Context, deadline: Deadline): Promise<void> {
  const { authorization } = ctx.req.headers;
  const cached = authenticator.findCached(authorization);
  if (!cached && remainingMs(deadline) < KEY_LOOKUP_MS) {
    throw serviceUnavailable(new Error('too little time is left to look the key up again'));
  }
  const { key } = cached ?? (await authenticator.lookUp(authorization));
  ctx.state.mayWrite = !key.readOnly;
}

/** Adds the duration of a wait to `keyCheckMs`, which counts against the request's deadline. */
async function noteWait<Result>({ state }: Context, wait: Promise<Result>): Promise<Result> {
  const startedAt = performance.now();
  const result = await wait;
  state.keyCheckMs = (state.keyCheckMs ?? 0) + performance.now() - startedAt;
  return result;
}

const LAG_SAMPLE_MS = 100;
/** The weight of the newest sample in the moving average. One long turn is no overload, a second of long turns is. */
const LAG_WEIGHT = 0.2;
/** The most that a sample counts. A pause of the process or of the machine is one sample, however long it is. */
const LAG_SAMPLE_MAX_MS = 3 * LAG_LIMIT_MS;

/** Gives a function that tells whether the event loop's lag, a moving average, is over LAG_LIMIT_MS. */
function watchEventLoop(): () => boolean {
  let lag = 0;
  let sampledAt = performance.now();
  setInterval(() => {
    const now = performance.now();
    lag += LAG_WEIGHT * (Math.min(now - sampledAt - LAG_SAMPLE_MS, LAG_SAMPLE_MAX_MS) - lag);
    sampledAt = now;
  }, LAG_SAMPLE_MS).unref();
  return () => lag > LAG_LIMIT_MS;
}
