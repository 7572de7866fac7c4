import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import { atMostOnce } from '../at-most-once.ts';
import type { Config } from '../config.ts';
import { createGraphqlEndpoint, GRAPHQL_PATH } from '../graphql/endpoint.ts';
import { graphqlErrorBody } from '../graphql/error-masking.ts';
import type { Authenticator } from '../keys/authenticator.ts';
import { createRateLimit } from '../keys/rate-limit.ts';
import type { Usage } from '../keys/usage.ts';
import { harmless, type Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { createGraphiql } from '../pages/graphiql.ts';
import { createLandingPage, LANDING_ASSETS } from '../pages/landing-page.ts';
import { createReferencePage } from '../pages/reference-page.ts';
import { REFERENCE_PATH } from '../pages/site-header.ts';
import { createRestAdapter } from '../rest/adapter.ts';
import { OPENAPI_PATH } from '../rest/openapi.ts';
import { BASE_PATH, OPERATIONS } from '../rest/operations.ts';
import type { Stores } from '../schema/context.ts';
import { allowOrigins } from './allow-origins.ts';
import { servePages } from './assets.ts';
import { errorBody } from './error-body.ts';
import { createAdmission } from './key-admission.ts';
import { createProbes, type ProbeParts } from './probes.ts';
import { requestLog } from './request-log.ts';
import { refuseUnknown } from './unknown-path.ts';

/** How often, in ms, open endpoints do their work, whoever asks. */
const OPEN_WORK_MS = 1000;

/** The rooms that the app is composed of. */
export interface AppParts extends ProbeParts {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly stores: Stores;
  readonly authenticator: Authenticator;
  readonly usage: Usage;
}

/** What a browser may send: what some operation takes, GraphQL's POST and the HEAD of every GET. */
const METHODS = [...new Set(['GET', 'HEAD', 'POST', ...OPERATIONS.map(({ method }) => method)])];

/** The paths, beside the probes', that one may have meant instead of an unknown one. */
const PATHS = [...OPERATIONS.map(({ path }) => BASE_PATH + path), ...[OPENAPI_PATH, GRAPHQL_PATH, REFERENCE_PATH]];

/** The Koa application: the order of its middleware is the way of a request. */
export function createApp(parts: AppParts): Koa {
  const { config, log, metrics, stores, authenticator, usage } = parts;
  const { bodyLimitBytes, publicUrl } = config;
  const checkReady = atMostOnce(OPEN_WORK_MS, parts.checkReady);
  const collectMetrics = atMostOnce(OPEN_WORK_MS, parts.collectMetrics);
  const rateLimit = config.rateLimit && createRateLimit(config.rateLimit);
  const admission = createAdmission({ authenticator, usage, metrics, bodyLimitBytes, rateLimit });
  const noteDeprecatedUse = (apiKeyId: string, operation: string) => {
    usage.noteDeprecatedUse(apiKeyId, operation);
    metrics.countDeprecatedUse(operation);
  };
  const graphql = createGraphqlEndpoint({
    stores,
    bodyLimitBytes,
    log,
    metrics,
    noteDeprecatedUse,
    atWork: admission.atWork,
  });
  const routes = new Router({ strict: true, sensitive: true });
  const probes = createProbes({ ...parts, checkReady, collectMetrics });
  for (const [path, answer] of Object.entries(probes)) {
    routes.get(path, (ctx) => {
      ctx.state.operation = path.slice(1);
      return answer(ctx);
    });
  }
  const pages = [
    ...(config.graphiql ? createGraphiql(GRAPHQL_PATH) : []),
    ...createReferencePage(config),
    ...LANDING_ASSETS,
  ];
  const landing = createLandingPage({ graphiql: config.graphiql, publicUrl, checkReady });
  routes.get('/', landing);

  const app = new Koa();
  app.use(closeWhenDraining(parts.isDraining));
  app.use(requestLog(log, metrics));
  app.use(errorBody(log));
  app.use(onlyAt(GRAPHQL_PATH, graphqlErrorBody({ log, metrics })));
  app.use(allowOrigins(config, METHODS));
  app.use(createRestAdapter({ stores, bodyLimitBytes, publicUrl, noteDeprecatedUse, admission }));
  app.use(servePages(pages));
  app.use(onlyAt(GRAPHQL_PATH, (ctx, next) => admission.admit(ctx, () => graphql(ctx, next))));
  app.use(routes.routes());
  app.use(refuseUnknown(routes, [...PATHS, ...Object.keys(probes)]));
  app.on('error', logUnsent(log));
  return app;
}

/** Answers that could not be sent, but for those that nobody waited for: their lines in the log say that. */
function logUnsent(log: Logger): (error: NodeJS.ErrnoException) => void {
  return harmless(log, (error) => {
    if (!GONE.has(error.code)) log.error({ err: error }, 'a response could not be sent');
  });
}

/** How Node calls the connection of a client that has gone. */
const GONE = new Set<unknown>(['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ERR_STREAM_DESTROYED']);

function onlyAt(path: string, middleware: Middleware): Middleware {
  return (ctx, next) => (ctx.path === path ? middleware(ctx, next) : next());
}

/**
 * RFC 9112 §9.6: the client opens its next connection elsewhere. Asked last: requests under way end theirs, too. Nothing
 * comes up as far as here: errorBody, below, answers whatever is thrown.
 */
function closeWhenDraining(isDraining: () => boolean): Middleware {
  return async (ctx, next) => {
    await next();
    if (isDraining()) ctx.set('Connection', 'close');
  };
}
