import type { IncomingMessage, ServerResponse } from 'node:http';
import { createShares } from '../../lib/fair-shares/fair-shares.ts';
import { REQUEST_MS } from '../deadlines.ts';
import { ApiError, toApiError } from '../errors.ts';
import { requireWrite } from '../keys/api-key.ts';
import { type Authenticator, lookUpAgain, readBearerKey, type ValidKey } from '../keys/authenticator.ts';
import type { Counted, RateLimit } from '../keys/rate-limit.ts';
import type { Usage } from '../keys/usage.ts';
import { type Logger, logFault } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { createReservation, holdAnswer, holdBody, type ProcessLimits } from './admission.ts';
import { type ErrorWriter, errorAnswer } from './answer.ts';
import { type AdmittedCall, type Answer, type Call, type PathParams, type Route, withHeaders } from './call.ts';
import { discardBody, readJsonBytes } from './json-body.ts';
import { createRouter, type RouterParts } from './router.ts';

/** What a gateway serves, and by which rules. */
export interface ServeParts extends RouterParts {
  /** The API of a path, and how it writes errors. */
  readonly apiAt: (path: string) => { readonly name: Call['told']['api']; readonly writeError: ErrorWriter };
  readonly authenticator: Authenticator;
  readonly usage: Usage;
  /** Undefined without RATE_LIMIT: then requests of a key are not counted. */
  readonly rateLimit: RateLimit | undefined;
  /** The limits of all keys together. */
  readonly limits: ProcessLimits;
  readonly bodyLimitBytes: number;
  /** Whether this process is overloaded. */
  readonly isBehind: () => boolean;
  readonly noteDeprecatedUse: (keyId: string, operation: string) => void;
  readonly metrics: Pick<Metrics, 'countShedRequest'>;
  readonly log: Logger;
}

/** Gives the answer to a call; never rejects. Undefined when its client has gone. */
export type Serve = (call: Call, request: IncomingMessage, response: ServerResponse) => Promise<Answer | undefined>;

/** A call whose key is valid. `waitedMs` is how long that took to know. */
interface KeyedCall {
  readonly route: Route;
  readonly params: PathParams;
  readonly call: Call;
  readonly bearerKey: string;
  readonly valid: ValidKey;
  readonly waitedMs: number;
}

const NO_BODY = Buffer.alloc(0);

/**
 * Creates the way of every request. Closed by default: a handler outside the list of open routes runs after the checks of key,
 * rate, right, body and share.
 */
export function createServe(parts: ServeParts): Serve {
  const { apiAt, authenticator, usage, rateLimit, log } = parts;
  const findRoute = createRouter(parts);
  const serveRoute = createServeRoute(parts);

  return async function serve(call, request, response) {
    const { told, path, headers } = call;
    const api = apiAt(path);
    told.api = api.name;
    const { route, open, refusal, params, needsKey, varies } = findRoute(call);
    told.operation = (route ?? open)?.operation;
    let rate: Counted | undefined;
    try {
      if (!route?.takesBody && (headers['content-length'] ?? headers['transfer-encoding'])) discardBody(request);
      if (open) return withHeaders(await open.handle(call), varies);
      if (!needsKey) throw refusal;
      // Authentication comes first: without a key, no answer tells which paths and methods exist.
      const askedAt = performance.now();
      const bearerKey = readBearerKey(headers.authorization);
      const valid = authenticator.findCached(bearerKey) ?? (await authenticator.lookUp(bearerKey));
      told.keyId = valid.caller.keyId;
      usage.noteUse(told.keyId);
      rate = rateLimit && (await rateLimit(told.keyId));
      if (rate?.refusal) throw rate.refusal;
      if (!route) throw refusal;
      const waitedMs = performance.now() - askedAt;
      const answer = await serveRoute({ route, params, call, bearerKey, valid, waitedMs }, request, response);
      return answer && withHeaders(answer, varies, route.headers, rate?.headers);
    } catch (thrown) {
      const error = toApiError(thrown);
      logFault(log, error, call.requestId);
      if (response.closed) return undefined;
      const answer = errorAnswer(error, api.writeError, headers);
      return withHeaders(answer, varies, route?.headers, rate?.headers);
    }
  };
}

/**
 * Creates the steps after the key: the right, the body, a place in flight, the handler. They give undefined when the client has
 * gone.
 */
function createServeRoute(parts: ServeParts) {
  const { authenticator, limits, bodyLimitBytes, isBehind, noteDeprecatedUse, metrics } = parts;
  const shares = createShares(limits);

  return async function serveRoute(
    { route, params, call, bearerKey, valid, waitedMs }: KeyedCall,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Answer | undefined> {
    const { keyId } = valid.caller;
    if (route.isDeprecated) noteDeprecatedUse(keyId, route.operation ?? route.path);
    if (route.changes) requireWrite(valid.caller);
    route.checkHeaders?.(call.headers);
    const share = shares.of(keyId);
    const held = route.takesBody ? holdBody(shares, share, call.headers, bodyLimitBytes) : undefined;
    try {
      const body = held ? await readJsonBytes(request, bodyLimitBytes, () => askForBody(request, response)) : NO_BODY;
      held?.hasCome();
      const askedAt = performance.now();
      const deadline = askedAt + REQUEST_MS - waitedMs;
      // A key's only request is never shed: it does not cause the overload.
      if (share.inFlight > 0 && isBehind()) {
        metrics.countShedRequest();
        throw new ApiError('service_unavailable', 'The service is overloaded; try again shortly.');
      }
      const queued = shares.begin(share, response);
      if (queued !== undefined) await queued;
      if (response.closed) return void share.release();
      // Until the answer is sent: a client that does not read its answers delays only requests of its own key.
      response.on('close', share.release);
      const begunAt = performance.now();
      const checkAgain = () => lookUpAgain(authenticator, bearerKey, deadline);
      const { caller } = begunAt < valid.validUntil ? valid : await checkAgain();
      const waitMs = limits.waitMs - (begunAt - askedAt); // what the wait for a place has left: less than 0 after a pause
      const room = createReservation(shares, share, limits, response, waitMs);
      const reserve: AdmittedCall['reserve'] = (objects, reads) => room.reserve(objects, reads)?.then(checkAgain);
      const answer = await route.handle({ ...call, caller, params, body, deadline, reserve }).finally(room.free);
      return holdAnswer(shares, share, answer, route.changes || answer.tellsChange === true, response);
    } finally {
      held?.free();
    }
  };
}

/** RFC 9110 §10.1.1: who waits for `100 Continue` sends no body in vain, because it comes after all that the header decides. */
function askForBody({ headers, httpVersion }: IncomingMessage, response: ServerResponse): void {
  const isAwaited = httpVersion === '1.1' && /\b100-continue\b/i.test(headers.expect ?? '');
  if (isAwaited && !response.headersSent) response.writeContinue();
}
