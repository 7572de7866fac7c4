import type { Context } from 'koa';
import { atMostOnce } from '../at-most-once.ts';
import type { Config } from '../config.ts';
import { ApiError } from '../errors.ts';
import { createGraphqlRoutes, GRAPHQL_PATH } from '../graphql/endpoint.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { REFERENCE_PATH } from '../pages/site.ts';
import { createPages } from '../pages/site-pages.ts';
import { createRestApi } from '../rest/rest-api.ts';
import { createSchema, printedSchema } from '../schema/schema.ts';
import type { Service } from '../service.ts';
import type { Stores } from '../store/store.ts';
import { baseUrl } from '../web/base-url.ts';
import type { OpenRoute, Route } from '../web/route.ts';
import { pageRoutes } from './assets.ts';

/** Where the schema is, as text. */
const SDL_PATH = '/schema.graphql';

/** How often, in ms, open endpoints do their work, whoever asks. */
const OPEN_WORK_MS = 1000;

/** What the routes are made of. */
export interface RoutesParts {
  readonly service: Service;
  readonly config: Pick<Config, 'graphiql' | 'publicUrl'>;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly stores: Stores;
  /** Throws when a request could not be served: the database is away, or its schema is not current. Gives what to add. */
  readonly checkReady: () => Promise<object>;
  readonly isDraining: () => boolean;
  /** The metrics page of all processes of this gateway, in Prometheus's text format. */
  readonly collectMetrics: () => Promise<string>;
  readonly noteDeprecatedUse: (apiKeyId: string, operation: string) => void;
}

/** All that is served. */
export interface Routes {
  /** What needs a key. */
  readonly routes: readonly Route[];
  /** THE list of what is open: for everybody, without a key. */
  readonly open: readonly OpenRoute[];
  /** The paths that one may have meant instead of an unknown one. */
  readonly knownPaths: readonly string[];
  /** Every method that some route has. */
  readonly methods: readonly string[];
  /** What log and metrics may call a request. */
  readonly operations: ReadonlySet<string>;
}

/** Makes the routes of both APIs, of the pages and of the probes. */
export function createRoutes(parts: RoutesParts): Routes {
  const { service, stores, log, metrics, noteDeprecatedUse } = parts;
  const { graphiql, publicUrl } = parts.config;
  const checkReady = atMostOnce(OPEN_WORK_MS, parts.checkReady);
  const collectMetrics = atMostOnce(OPEN_WORK_MS, parts.collectMetrics);
  const schema = createSchema(service);
  const sdl = printedSchema(schema);
  const rest = createRestApi({ service, schema, stores, publicUrl });
  const graphql = createGraphqlRoutes({ service, schema, stores, log, metrics, noteDeprecatedUse });
  const { openApiPath } = rest;
  const paths = { openApiPath, graphqlPath: GRAPHQL_PATH };
  const site = createPages({ ...paths, service, openApi: rest.openApiDocument, graphiql, publicUrl, checkReady });
  const probes = createProbes(checkReady, collectMetrics, parts.isDraining);
  const routes = [...rest.routes, ...graphql.routes];
  const open: OpenRoute[] = [
    { path: '/', operation: 'page', handle: site.landing },
    ...pageRoutes(site.pages),
    textRoute(openApiPath, 'openapi', 'application/json', (ctx) =>
      JSON.stringify(rest.openApiDocument(baseUrl(ctx.req, publicUrl))),
    ),
    textRoute(SDL_PATH, 'sdl', 'text/plain', () => sdl),
    ...probes,
  ];
  return {
    routes,
    open,
    knownPaths: [
      ...new Set(rest.routes.map(({ path }) => path)),
      ...[openApiPath, GRAPHQL_PATH, REFERENCE_PATH, SDL_PATH],
      ...probes.map(({ path }) => path),
    ],
    methods: [...new Set(routes.flatMap(({ methods }) => methods))],
    operations: new Set([...routes, ...open].flatMap(({ operation = [] }) => operation).concat(graphql.operations)),
  };
}

/** The probes of operators and of load balancers. */
function createProbes(
  checkReady: RoutesParts['checkReady'],
  collectMetrics: RoutesParts['collectMetrics'],
  isDraining: RoutesParts['isDraining'],
): OpenRoute[] {
  const status = async (): Promise<object> => {
    if (isDraining()) throw new ApiError('service_unavailable', 'The gateway is shutting down.');
    return { status: 'ok', ...(await checkReady()) };
  };
  return [
    textRoute('/livez', 'livez', 'application/json', () => '{"status":"ok"}'),
    textRoute('/readyz', 'readyz', 'application/json', async () => JSON.stringify(await status())),
    // https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
    textRoute('/metrics', 'metrics', 'text/plain; version=0.0.4', collectMetrics),
  ];
}

/** The header is set last: a refusal has none of it. */
function textRoute(
  path: string,
  operation: string,
  type: string,
  write: (ctx: Context) => string | Promise<string>,
): OpenRoute {
  return {
    path,
    operation,
    async handle(ctx) {
      const text = await write(ctx);
      ctx.set('Content-Type', `${type}; charset=utf-8`);
      ctx.body = text;
    },
  };
}
