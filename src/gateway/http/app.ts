import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import cors from '@koa/cors';
import Koa from 'koa';
import type { Config } from '../config.ts';
import { ApiError, toApiError } from '../errors.ts';
import { type Logger, safely } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { errorAnswer, logUnread, requestIdOf, sendAnswer, setStandardHeaders, writeRestError } from './answer.ts';
import { type Answer, type Call, textRoute } from './call.ts';
import { createOriginReader } from './client-address.ts';
import { createRequestLog } from './request-log.ts';
import { readRequestTarget } from './request-target.ts';
import { createServe, type Serve, type ServeParts } from './serve.ts';

/** The paths of the probes and of the metrics, by their operations. */
export const PROBES = { livez: '/livez', readyz: '/readyz', metrics: '/metrics' } as const;
/** All of them: those that ADMIN_PORT serves. */
export const PROBE_PATHS: readonly string[] = Object.values(PROBES);

/** Answers as long as the process runs. */
export const LIVEZ = textRoute(PROBES.livez, 'livez', 'application/json', () => '{"status":"ok"}');

interface AppParts extends ServeParts {
  readonly config: Config;
  readonly metrics: Metrics;
  readonly probes: ReadonlySet<string>;
  /** The methods of the routes that need a key, for CORS. */
  readonly methods: readonly string[];
  readonly isDraining: () => boolean;
}

/** Creates the Koa application of a gateway. */
export function createApp(parts: AppParts): Koa {
  return createKoa({ ...parts, serve: createServe(parts) });
}

/** Creates the application of a gateway that has no database yet: `/livez` is 200, everything else 503 with an Error body. */
export function createStartingApp(config: Config, log: Logger) {
  const methods = ['GET', 'HEAD'];
  const refusal = new ApiError('service_unavailable', 'The gateway is starting: it waits for its database.');
  const koa = createKoa({
    config,
    log,
    metrics: { countRequest() {} }, // `/metrics` is 503, too
    probes: new Set([LIVEZ.operation]),
    isDraining: () => false,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'], // whatever the service has
    async serve(call) {
      if (call.path !== LIVEZ.path || !methods.includes(call.method)) return errorAnswer(refusal, writeRestError);
      call.told.operation = LIVEZ.operation;
      return LIVEZ.handle(call);
    },
  });
  return { koa, methods };
}

interface KoaParts extends Pick<AppParts, 'config' | 'log' | 'probes' | 'methods' | 'isDraining'> {
  readonly metrics: Pick<Metrics, 'countRequest'>;
  readonly serve: Serve;
}

/** ADMIN_PORT serves the probes and nothing else, and no other port serves them. */
const NOT_HERE = new ApiError('not_found', 'There is no such path at this port.');

/** Koa with one middleware: it reads the call, lets it be served, sends the answer, and logs it. */
function createKoa({ config, log, metrics, probes, methods, isDraining, serve }: KoaParts): Koa {
  const cors = allowOrigins(config, methods);
  const readOrigin = createOriginReader(config, log);
  const logRequest = createRequestLog(log, metrics, probes);
  const koa = new Koa();
  const noteFailure = (error: unknown) => log.error({ err: error }, 'a response could not be sent');
  koa.on('error', safely(log, noteFailure));
  // Koa's own function, which `callback()` calls, would also watch the end of every answer: docs/decisions/0021-answers-are-sent-plainly.md
  const handleRequest = (ctx: Koa.Context, middleware: (ctx: Koa.Context) => Promise<void>) =>
    middleware(ctx).catch((error) => ctx.onerror(error));
  Object.assign(koa, { handleRequest }); // Koa's types lack it

  const { adminPort } = config;
  // RFC 9112 §9.6: with `Connection: close`, the client opens its next connection elsewhere.
  const closeWhileDraining = (response: ServerResponse) => {
    if (isDraining() && !response.headersSent) response.setHeader('Connection', 'close');
  };
  const isMisplaced = (path: string, port: number | undefined) =>
    adminPort !== undefined && PROBE_PATHS.includes(path) !== (port === adminPort);

  koa.use(async (ctx) => {
    const { req: request, res: response } = ctx;
    // The connection was reset before its request was read: nobody waits for an answer, and the address is unknown.
    if (request.socket.remoteAddress === undefined) return void request.socket.destroy();
    const { method = '', headers } = request;
    const requestId = requestIdOf(headers);
    setStandardHeaders(response, requestId);
    let target: ReturnType<typeof readRequestTarget>;
    try {
      target = readRequestTarget(request);
    } catch (thrown) {
      const error = toApiError(thrown);
      closeWhileDraining(response);
      sendAnswer(response, errorAnswer(error, writeRestError));
      return logUnread(log, error, requestId, request.socket);
    }
    const call: Call = { method, ...target, headers, requestId, ...readOrigin(request), told: { api: 'other' } };
    logRequest(call, response);
    let answer: Answer | undefined;
    if (isMisplaced(call.path, request.socket.localPort)) {
      answer = errorAnswer(NOT_HERE, writeRestError);
    } else if (cors.concerns(headers)) {
      await cors.middleware(ctx, async () => {
        answer = await serve(call, request, response);
      });
      if (ctx.method === 'OPTIONS') answer ??= { status: ctx.status }; // a preflight, which CORS has answered
    } else {
      answer = await serve(call, request, response);
    }
    if (answer === undefined) return; // the client has gone
    closeWhileDraining(response);
    sendAnswer(response, answer);
  });
  return koa;
}

/** How long a browser may cache a preflight's answer, in seconds: the most that Chromium allows. */
const PREFLIGHT_MAX_AGE_S = 7200;

// Besides the headers that every script may read, https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name
const READABLE_HEADERS = 'Link,Location,X-Request-Id,Deprecation,Sunset,Retry-After,Idempotency-Replayed';

/** CORS for both APIs. Keys are sent in a header, never in a cookie: so credentials stay off, and `*` is safe. */
function allowOrigins({ corsOrigins: origins, rateLimit }: Config, methods: readonly string[]) {
  return {
    /** Whether an answer depends on CORS. With `*`, one to a request without Origin has no CORS headers and no Vary. */
    concerns: (headers: IncomingHttpHeaders): boolean => origins !== '*' || headers.origin !== undefined,
    /** Answers preflights; sets the headers of other answers before it calls `next`. */
    middleware: cors({
      // For an empty string, no header is set, and the browser refuses the answer.
      origin: (ctx) => (origins === '*' ? '*' : (origins.find((origin) => origin === ctx.get('Origin')) ?? '')),
      allowMethods: [...methods],
      exposeHeaders: rateLimit ? `${READABLE_HEADERS},RateLimit-Policy,RateLimit` : READABLE_HEADERS,
      maxAge: PREFLIGHT_MAX_AGE_S,
      keepHeadersOnError: false, // errors are answers here
    }),
  };
}
