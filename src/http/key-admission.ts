import type { Context, Middleware, Next } from 'koa';
import type { Deadline } from '../deadline.ts';
import { REQUEST_MS } from '../deadlines.ts';
import { ApiError } from '../errors.ts';
import type { Authenticator, ValidKey } from '../keys/authenticator.ts';
import { tooManyRequests } from '../keys/lines.ts';
import type { RateLimit } from '../keys/rate-limit.ts';
import { createShares, type Share, type Shares } from '../keys/shares.ts';
import type { Usage } from '../keys/usage.ts';
import type { Metrics } from '../metrics.ts';
import type { Admission } from '../web/admission.ts';
import { watchEventLoop } from './overload.ts';

/** Who decides about a request. */
export interface AdmissionParts {
  readonly authenticator: Authenticator;
  readonly usage: Usage;
  readonly metrics: Metrics;
  readonly bodyLimitBytes: number;
  /** Absent: requests of a key are not counted. */
  readonly rateLimit: RateLimit | undefined;
}

/** A request with a body takes at least this much memory, in bytes, however little of it has come. */
const BODY_LEAST_BYTES = 16_384;
/** Answers from this size on are counted until their readers have taken them, in bytes; smaller ones are few: one a place. */
const ANSWER_COUNTED_BYTES = 16_384;

/** The admission of both APIs: the key and its limit, then, when the body is there, its share of the process. */
export function createAdmission(parts: AdmissionParts): Admission {
  const { authenticator, usage, metrics, bodyLimitBytes, rateLimit } = parts;
  const shares = createShares();
  const isBehind = watchEventLoop();

  const letIn = (ctx: Context, next: Next, { key, validUntil }: ValidKey): Promise<void> => {
    ctx.state.keyId = key.id;
    ctx.state.mayWrite = !key.readOnly;
    ctx.state.keyValidUntil = validUntil;
    usage.noteUse(key.id);
    const pass = ctx.req.method === 'POST' ? () => withBody(ctx, next) : next;
    return rateLimit === undefined ? pass() : rateLimit(key.id, (field, value) => ctx.set(field, value)).then(pass);
  };

  /** Counts the body from its header on, until the request is done with it. */
  const withBody = async ({ req, state }: Context, next: Next): Promise<void> => {
    const announced = Number(req.headers['content-length'] ?? bodyLimitBytes);
    const bytes = Math.max(Math.min(announced, bodyLimitBytes), BODY_LEAST_BYTES);
    const share = shares.of(state.keyId);
    shares.holdBody(share, bytes);
    try {
      await next();
    } finally {
      shares.releaseBody(share, bytes);
    }
  };

  const admit: Middleware = (ctx, next) => {
    const { authorization } = ctx.req.headers;
    const known = authenticator.recall(authorization);
    if (known !== undefined) return letIn(ctx, next, known);
    const askedAt = performance.now();
    return authenticator.lookUp(authorization).then((key) => {
      ctx.state.keyCheckMs = performance.now() - askedAt;
      return letIn(ctx, next, key);
    });
  };

  /** Without a query, but for a key whose body or line took longer than it is believed. */
  const checkAgain = async (ctx: Context): Promise<void> => {
    const { authorization } = ctx.req.headers;
    const { key } = authenticator.recall(authorization) ?? (await authenticator.lookUp(authorization));
    ctx.state.mayWrite = !key.readOnly;
  };

  const atWork = async (ctx: Context, work: (deadline: Deadline) => Promise<void>): Promise<void> => {
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
    if (startedAt >= ctx.state.keyValidUntil) await checkAgain(ctx);
    await work(deadline);
    shares.noteWork(performance.now() - startedAt);
    if (typeof ctx.body === 'string' && ctx.body.length >= ANSWER_COUNTED_BYTES)
      holdAnswer(shares, ctx, share, ctx.length ?? 0);
  };

  return { admit, atWork };
}

/** Counts an answer until it is read; one too many is thrown away, unless it tells of a change. */
function holdAnswer(shares: Shares, ctx: Context, share: Share, bytes: number): void {
  if (shares.holdAnswer(share, bytes)) {
    ctx.res.once('close', () => shares.releaseAnswer(share, bytes));
  } else if (!hasChanged(ctx)) {
    withdrawNextPage(ctx);
    throw tooManyRequests('Too many answers to this API key have not been read; read them, then try again.');
  }
}

/** What else `Link` tells, such as what to use instead of the operation, is true of a refusal as well. */
function withdrawNextPage(ctx: Context): void {
  const links = [ctx.res.getHeader('Link') ?? []].flat().map(String);
  ctx.remove('Link');
  for (const link of links) if (!link.endsWith('rel="next"')) ctx.append('Link', link);
}

/** Whether the answer tells of a change, which must not be called refused. */
function hasChanged({ status, state }: Context): boolean {
  return status === 201 || state.operation === 'mutation';
}

function overloaded(metrics: Metrics): ApiError {
  metrics.countShedRequest();
  return new ApiError('service_unavailable', 'The service is overloaded; try again shortly.');
}
