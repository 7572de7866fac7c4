import type { Context } from 'koa';
import { type Deadline, remainingMs } from '../deadline.ts';
import { KEY_LOOKUP_MS, LAG_LIMIT_MS, REQUEST_MS } from '../deadlines.ts';
import { ApiError, serviceUnavailable } from '../errors.ts';
import type { Authenticator, ValidKey } from '../keys/authenticator.ts';
import type { RateLimit } from '../keys/rate-limit.ts';
import type { Usage } from '../keys/usage.ts';
import { createShares, type ShareLimits, tooManyRequests } from '../load/shares.ts';
import { createReservation, holdAnswer } from '../load/unread-answers.ts';
import type { Metrics } from '../metrics.ts';
import type { AdmittedRequest } from '../web/route.ts';

/** Who decides about a request. */
export interface AdmissionParts {
  readonly authenticator: Authenticator;
  readonly usage: Usage;
  readonly metrics: Metrics;
  readonly bodyLimitBytes: number;
  /** What all keys together may hold. */
  readonly limits: ShareLimits;
  /** Absent: requests of a key are not counted. */
  readonly rateLimit: RateLimit | undefined;
}

/** What the frame asks before a handler runs. */
export interface Admission {
  /** Lets a request with a valid key pass that its rate limit allows; ApiError `unauthorized`, `too_many_requests`. Nothing of the body is read before. */
  admit(ctx: Context, next: () => Promise<void>): Promise<void>;
  /** Counts a body from its header on, until `next` is done with it; ApiError `too_many_requests`. */
  holdBody(ctx: Context, next: () => Promise<void>): Promise<void>;
  /**
   * Runs `work` when the body is there: as one of the requests in flight of its key, whose validity is looked at again if
   * the body took long. ApiError `too_many_requests`, `unauthorized`, `service_unavailable`.
   */
  run(ctx: Context, work: (admitted: Pick<AdmittedRequest, 'deadline' | 'reserve'>) => Promise<void>): Promise<void>;
}

/** A request with a body takes at least this much memory, in bytes, however little of it has come. */
const BODY_LEAST_BYTES = 16_384;

/** The admission of both APIs: the key and its limit, then, when the body is there, its share of the process. */
export function createAdmission(parts: AdmissionParts): Admission {
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
    return noteWait(
      ctx,
      rateLimit(key.id, (field, value) => ctx.set(field, value)),
    ).then(next);
  };

  /** Without a query, but for a key whose body or queue took longer than it is believed. */
  const checkAgain = async (ctx: Context, deadline: Deadline): Promise<void> => {
    const { authorization } = ctx.req.headers;
    const known = authenticator.recall(authorization);
    if (!known && remainingMs(deadline) < KEY_LOOKUP_MS) {
      throw serviceUnavailable(new Error('too little time is left to look the key up again'));
    }
    const { key } = known ?? (await authenticator.lookUp(authorization));
    ctx.state.mayWrite = !key.readOnly;
  };

  return {
    admit(ctx, next) {
      const { authorization } = ctx.req.headers;
      const known = authenticator.recall(authorization);
      if (known !== undefined) return letIn(ctx, next, known);
      return noteWait(ctx, authenticator.lookUp(authorization)).then((key) => letIn(ctx, next, key));
    },

    async holdBody({ req, state }, next) {
      const announced = Number(req.headers['content-length'] ?? bodyLimitBytes);
      const bytes = Math.max(Math.min(announced, bodyLimitBytes), BODY_LEAST_BYTES);
      const share = shares.of(state.keyId);
      if (!shares.hold(share, bytes)) {
        throw tooManyRequests('Too many request bodies of this API key at once; try again shortly.');
      }
      try {
        await next();
      } finally {
        shares.free(share, bytes);
      }
    },

    async run(ctx, work) {
      const askedAt = performance.now();
      const { state, res } = ctx;
      const deadline = askedAt + REQUEST_MS - (state.keyCheckMs ?? 0);
      const share = shares.of(state.keyId);
      // Whoever has but one request here is not what the process is behind with.
      if (share.inFlight > 0 && isBehind()) throw overloaded(metrics);
      const isValid = askedAt < state.keyValidUntil;
      if (!isValid) await checkAgain(ctx, deadline);
      const isAbandoned = () => res.closed;
      const { reserve, free } = createReservation(shares, share, limits.bytes, isAbandoned);
      await shares.run(share, askedAt, isAbandoned, async () => {
        if (res.closed) return share.release(); // nobody waits for the answer
        // In flight until the answer has left, not until it is made: a reader that does not read holds up its own requests.
        res.on('close', share.release);
        if (isValid && performance.now() >= state.keyValidUntil) await checkAgain(ctx, deadline);
        await work({ deadline, reserve }).finally(free);
        holdAnswer(shares, ctx, share);
      });
    },
  };
}

/** Adds to what of its time a request has spent before it is in flight. */
async function noteWait<Result>({ state }: Context, wait: Promise<Result>): Promise<Result> {
  const askedAt = performance.now();
  const result = await wait;
  state.keyCheckMs = (state.keyCheckMs ?? 0) + performance.now() - askedAt;
  return result;
}

function overloaded(metrics: Metrics): ApiError {
  metrics.countShedRequest();
  return new ApiError('service_unavailable', 'The service is overloaded; try again shortly.');
}

const LAG_SAMPLE_MS = 100;
/** The weight of the newest sample in the moving average: one long pause is no overload, a second of long turns is. */
const LAG_WEIGHT = 0.2;

/** Gives a function that tells whether the event loop's lag, a moving average, is over LAG_LIMIT_MS. */
function watchEventLoop(): () => boolean {
  let lag = 0;
  let sampledAt = performance.now();
  setInterval(() => {
    const now = performance.now();
    lag += LAG_WEIGHT * (now - sampledAt - LAG_SAMPLE_MS - lag);
    sampledAt = now;
  }, LAG_SAMPLE_MS).unref();
  return () => lag > LAG_LIMIT_MS;
}
