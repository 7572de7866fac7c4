import Koa, { type Middleware } from 'koa';
import type { Config } from '../config.ts';
import { ApiError } from '../errors.ts';
import { GRAPHQL_PATH } from '../graphql/endpoint.ts';
import { ERROR_CODES, graphqlErrorBody } from '../graphql/error-masking.ts';
import type { Authenticator } from '../keys/authenticator.ts';
import { createRateLimit } from '../keys/rate-limit.ts';
import type { Usage } from '../keys/usage.ts';
import { shareLimitsOf } from '../load/shares.ts';
import { type Logger, safely } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { REFERENCE_PATH } from '../pages/site.ts';
import { createAdmission } from './admission.ts';
import { allowOrigins } from './allow-origins.ts';
import { type ForwardedConfig, readForwarded } from './client-address.ts';
import { createFrame } from './frame.ts';
import { createNotFound } from './path-finder.ts';
import { errorBody } from './refusal.ts';
import { requestLog, type Served } from './request-log.ts';
import { createRoutes, LIVEZ, PROBE_PATHS, type RoutesParts } from './routes.ts';
import { sendPlainly } from './send-answer.ts';

interface AppParts extends Omit<RoutesParts, 'noteDeprecatedUse'> {
  readonly config: Config;
  readonly authenticator: Authenticator;
  readonly usage: Usage;
}

type PortConfig = ForwardedConfig & Pick<Config, 'adminPort'>;

/** Creates the Koa application and its routes. Each request passes the middleware in the order of the `use` calls. */
export function createApp(parts: AppParts) {
  const { service, config, log, metrics, authenticator, usage } = parts;
  const { bodyLimitBytes, workers } = config;
  const rateLimit = config.rateLimit && createRateLimit(config.rateLimit);
  const limits = shareLimitsOf(workers);
  const admission = createAdmission({ authenticator, usage, metrics, bodyLimitBytes, limits, rateLimit });
  const noteDeprecatedUse = (apiKeyId: string, operation: string) => {
    usage.noteDeprecatedUse(apiKeyId, operation);
    metrics.countDeprecatedUse(operation);
  };
  const served = createRoutes({ ...parts, noteDeprecatedUse });
  const { routes, open } = served;
  const { basePath, deprecations } = service;
  const deprecatedRows = routes.flatMap(({ isDeprecated, operation }) => (isDeprecated && operation) || []);
  metrics.showAtZero(ERROR_CODES, [...deprecatedRows, ...deprecations.map(({ coordinate }) => coordinate)]);
  const refuseNotFound = createNotFound(served.knownPaths, config.publicPath + REFERENCE_PATH);

  const koa = createKoa(config, log, parts.isDraining, metrics, served);
  koa.use(onlyAt(GRAPHQL_PATH, graphqlErrorBody({ log, metrics })));
  koa.use(allowOrigins(config, served.methods));
  koa.use(createFrame({ routes, open, basePath, admission, bodyLimitBytes, noteDeprecatedUse, refuseNotFound }));
  return { koa, ...served };
}

/** Creates the application of a gateway that has no database yet: `/livez` is 200, everything else 503 with an Error body. */
export function createStartingApp(config: PortConfig, log: Logger) {
  const metrics = { countRequest() {} }; // `/metrics` is 503, too
  const probes = new Set([LIVEZ.operation]);
  const koa = createKoa(config, log, () => false, metrics, { operations: probes, probes });
  const methods = ['GET', 'HEAD'];
  koa.use((ctx) => {
    if (ctx.path !== LIVEZ.path || !methods.includes(ctx.method)) {
      throw new ApiError('service_unavailable', 'The gateway is starting: it waits for its database.');
    }
    ctx.state.operation = LIVEZ.operation;
    return LIVEZ.handle(ctx);
  });
  return { koa, methods };
}

/** Koa, with the middleware that every request passes first. */
function createKoa(
  config: PortConfig,
  log: Logger,
  isDraining: () => boolean,
  metrics: Pick<Metrics, 'countRequest'>,
  served: Served,
): Koa {
  const koa = new Koa();
  sendPlainly(koa);
  koa.on(
    'error',
    safely(log, (error) => log.error({ err: error }, 'a response could not be sent')),
  );
  koa.use(closeWhenDraining(isDraining));
  koa.use(readForwarded(config, log));
  koa.use(requestLog(log, metrics, served));
  koa.use(errorBody(log));
  if (config.adminPort !== undefined) koa.use(separateProbes(config.adminPort));
  return koa;
}

/** ADMIN_PORT serves the probes and nothing else, and no other port serves them. */
function separateProbes(adminPort: number): Middleware {
  return ({ path, req }, next) => {
    if (PROBE_PATHS.includes(path) === (req.socket.localPort === adminPort)) return next();
    throw new ApiError('not_found', 'There is no such path at this port.');
  };
}

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
