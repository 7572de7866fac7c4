import type { Context } from 'koa';
import { type Deadline, remainingMs } from '../deadline.ts';
import { KEY_LOOKUP_MS, REQUEST_MS } from '../deadlines.ts';
import { ApiError, serviceUnavailable } from '../errors.ts';
import type { Authenticator, ValidKey } from '../keys/authenticator.ts';
import type { RateLimit } from '../keys/rate-limit.ts';
import type { Usage } from '../keys/usage.ts';
import { watchEventLoop } from '../load/overload.ts';
import { createShares } from '../load/shares.ts';
import { holdAnswer } from '../load/unread-answers.ts';
import type { Metrics } from '../metrics.ts';

/** Who decides about a request. */
export interface AdmissionParts {
  readonly authenticator: Authenticator;
  readonly usage: Usage;
  readonly metrics: Metrics;
  readonly bodyLimitBytes: number;
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
   * Runs `work` when the body is there: as one of the requests at work of its key, whose validity is looked at again if
   * the body took long, and with the request's deadline. ApiError `too_many_requests`, `unauthorized`, `service_unavailable`.
   */
  atWork(ctx: Context, work: (deadline: Deadline) => Promise<void>): Promise<void>;
}

/** A request with a body takes at least this much memory, in bytes, however little of it has come. */
const BODY_LEAST_BYTES = 16_384;

/** The admission of both APIs: the key and its limit, then, when the body is there, its share of the process. */
export function createAdmission(parts: AdmissionParts): Admission {
  const { authenticator, usage, metrics, bodyLimitBytes, rateLimit } = parts;
  const shares = createShares();
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

  /** Without a query, but for a key whose body or line took longer than it is believed. */
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
      shares.holdBody(share, bytes);
      try {
        await next();
      } finally {
        shares.releaseBody(share, bytes);
      }
    },

    async atWork(ctx, work) {
      const askedAt = performance.now();
      const deadline = askedAt + REQUEST_MS - (ctx.state.keyCheckMs ?? 0);
      const share = shares.of(ctx.state.keyId);
      // Whoever has but one request here is not what the process is behind with.
      if (share.atWork > 0 && isBehind()) throw overloaded(metrics);
      const turn = shares.enter(share, askedAt, () => ctx.res.closed);
      if (turn !== true && !(await turn)) return;
      if (ctx.res.closed) return share.leave(); // nobody waits for the answer
      // The place is held until the answer has left, not until it is made: a reader that does not read keeps its own.
      ctx.res.on('close', share.leave);
      const startedAt = turn === true ? askedAt : performance.now();
      if (startedAt >= ctx.state.keyValidUntil) await checkAgain(ctx, deadline);
      await work(deadline);
      shares.noteWork(performance.now() - startedAt);
      holdAnswer(shares, ctx, share);
    },
  };
}

/** Adds to what of its time a request has spent before it is at work. */
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
