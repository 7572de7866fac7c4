import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import type { Config } from '../config.ts';
import { ApiError } from '../errors.ts';
import { createGraphqlEndpoint, GRAPHQL_PATH } from '../graphql/endpoint.ts';
import { graphqlErrorBody } from '../graphql/error-masking.ts';
import type { Authenticate } from '../keys/authenticator.ts';
import type { Usage } from '../keys/usage.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { createGraphiql } from '../pages/graphiql.ts';
import { createLandingPage, LANDING_ASSETS } from '../pages/landing-page.ts';
import { createReferencePage } from '../pages/reference-page.ts';
import { createRestAdapter } from '../rest/adapter.ts';
import type { Context } from '../schema/context.ts';
import type { Admission } from '../web/admission.ts';
import { refuseOtherMethods } from '../web/allowed-methods.ts';
import { allowOrigins } from './allow-origins.ts';
import { servePages } from './assets.ts';
import { errorBody } from './error-body.ts';
import { createProbes, type ProbeParts } from './probes.ts';
import { requestLog } from './request-log.ts';
import { requireKey } from './require-key.ts';
import { shedLoad } from './shed-load.ts';

/** The rooms that the app is composed of. */
export interface AppParts extends ProbeParts {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly pets: Context['pets'];
  readonly authenticate: Authenticate;
  readonly usage: Usage;
}

/** The Koa application: the order of its middleware is the way of a request. */
export function createApp(parts: AppParts): Koa {
  const { config, log, metrics, pets, authenticate, usage } = parts;
  const { bodyLimitBytes, publicUrl } = config;
  const admission: Admission = { admit: requireKey(authenticate, usage), atWork: shedLoad(metrics) };
  const noteDeprecatedUse = (apiKeyId: string, operation: string) => {
    usage.noteDeprecatedUse(apiKeyId, operation);
    metrics.countDeprecatedUse(operation);
  };
  const graphql = createGraphqlEndpoint({
    pets,
    bodyLimitBytes,
    log,
    metrics,
    noteDeprecatedUse,
    atWork: admission.atWork,
  });
  const routes = new Router({ strict: true, sensitive: true });
  routes.all(GRAPHQL_PATH, admission.admit, graphql);
  for (const [path, answer] of Object.entries(createProbes(parts))) {
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
  const landing = createLandingPage({ graphiql: config.graphiql, publicUrl, checkReady: parts.checkReady });
  routes.get('/', landing);

  const app = new Koa();
  app.use(closeWhenDraining(parts.isDraining));
  app.use(requestLog(log, metrics));
  app.use(errorBody(log));
  app.use(onlyAt(GRAPHQL_PATH, graphqlErrorBody({ log, metrics })));
  app.use(requireHost);
  app.use(allowOrigins(config.corsOrigins));
  app.use(createRestAdapter({ pets, bodyLimitBytes, publicUrl, noteDeprecatedUse, admission }));
  app.use(servePages(pages));
  app.use(routes.routes());
  app.use(refuseUnknown(routes));
  app.on('error', (error) => log.error({ err: error }, 'a response could not be sent'));
  return app;
}

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

// RFC 9112 §3.2. Node would refuse it by itself, but without an Error body: it is told not to.
const requireHost: Middleware = (ctx, next) => {
  if (ctx.req.httpVersion === '1.1' && ctx.req.headers.host === undefined) {
    throw new ApiError('bad_request', 'The Host header is missing.');
  }
  return next();
};

function refuseUnknown(routes: Router): Middleware {
  return (ctx) => {
    refuseOtherMethods(routes, ctx);
    throw new ApiError('not_found', 'Nothing is served at this path.');
  };
}
