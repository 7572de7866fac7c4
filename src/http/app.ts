import Koa, { type Middleware } from 'koa';
import type { Config } from '../config.ts';
import { GRAPHQL_PATH } from '../graphql/endpoint.ts';
import { graphqlErrorBody } from '../graphql/error-masking.ts';
import type { Authenticator } from '../keys/authenticator.ts';
import { createRateLimit } from '../keys/rate-limit.ts';
import type { Usage } from '../keys/usage.ts';
import { limitsOf } from '../load/shares.ts';
import { type Logger, safely } from '../log.ts';
import { REFERENCE_PATH } from '../pages/site.ts';
import { createAdmission } from './admission.ts';
import { allowOrigins } from './allow-origins.ts';
import { createFrame } from './frame.ts';
import { createUnknownPath } from './path-finder.ts';
import { errorBody } from './refusal.ts';
import { requestLog } from './request-log.ts';
import { createRoutes, type RoutesParts } from './routes.ts';
import { sendPlainly } from './send-answer.ts';

/** The dependencies of the application. */
interface AppParts extends Omit<RoutesParts, 'noteDeprecatedUse'> {
  readonly config: Config;
  readonly authenticator: Authenticator;
  readonly usage: Usage;
}

/** Creates the Koa application and its routes. Each request passes the middleware in the order of the `use` calls. */
export function createApp(parts: AppParts) {
  const { service, config, log, metrics, authenticator, usage } = parts;
  const { bodyLimitBytes, workers } = config;
  const rateLimit = config.rateLimit && createRateLimit(config.rateLimit);
  const limits = limitsOf(workers);
  const admission = createAdmission({ authenticator, usage, metrics, bodyLimitBytes, limits, rateLimit });
  const noteDeprecatedUse = (apiKeyId: string, operation: string) => {
    usage.noteDeprecatedUse(apiKeyId, operation);
    metrics.countDeprecatedUse(operation);
  };
  const served = createRoutes({ ...parts, noteDeprecatedUse });
  const { routes, open } = served;
  const { basePath } = service;
  const refuseUnknown = createUnknownPath(served.knownPaths, REFERENCE_PATH);

  const koa = new Koa();
  sendPlainly(koa);
  koa.use(closeWhenDraining(parts.isDraining));
  koa.use(requestLog(log, metrics, served.operations));
  koa.use(errorBody(log));
  koa.use(onlyAt(GRAPHQL_PATH, graphqlErrorBody({ log, metrics })));
  koa.use(allowOrigins(config, served.methods));
  koa.use(createFrame({ routes, open, basePath, admission, bodyLimitBytes, noteDeprecatedUse, refuseUnknown }));
  koa.on('error', logUnsent(log));
  return { koa, ...served };
}

/** Logs the errors of sending an answer, except those of a client that has gone: the request log has `aborted` for it. */
function logUnsent(log: Logger): (error: NodeJS.ErrnoException) => void {
  return safely(log, (error) => {
    if (!GONE.has(error.code)) log.error({ err: error }, 'a response could not be sent');
  });
}

/** Node's error codes for the connection of a client that has gone. */
const GONE = new Set<unknown>(['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ERR_STREAM_DESTROYED']);

function onlyAt(path: string, middleware: Middleware): Middleware {
  return (ctx, next) => (ctx.path === path ? middleware(ctx, next) : next());
}

/**
 * RFC 9112 §9.6: with `Connection: close`, the client opens its next connection elsewhere. This middleware checks after
 * `next`, so that requests in flight close their connections too. It needs no `finally`: errorBody catches all errors.
 */
function closeWhenDraining(isDraining: () => boolean): Middleware {
  return async (ctx, next) => {
    await next();
    if (isDraining()) ctx.set('Connection', 'close');
  };
}
