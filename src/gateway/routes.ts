import { throttle } from './caches.ts';
import type { Config } from './config.ts';
import { ApiError } from './errors.ts';
import { describeRefusals } from './graphql/cost.ts';
import { createGraphqlRoutes, GRAPHQL_PATH, type GraphqlParts } from './graphql/endpoint.ts';
import { createErrorWriter, ERROR_CODES } from './graphql/error-masking.ts';
import { writeRestError } from './http/answer.ts';
import { LIVEZ, PROBE_PATHS, PROBES } from './http/app.ts';
import { type OpenRoute, type Route, textRoute } from './http/call.ts';
import { createNotFound, isBelow } from './http/router.ts';
import type { ServeParts } from './http/serve.ts';
import type { Metrics } from './metrics.ts';
import { createPages, pageRoutes } from './pages/page-routes.ts';
import { REFERENCE_PATH } from './pages/site.ts';
import { createRestApi } from './rest/rest-api.ts';
import { createSchema, printedSchema } from './schema/schema.ts';
import type { Service } from './service.ts';

const SDL_PATH = '/schema.graphql';

/** The shortest time, in ms, between two runs of the work of `/readyz` or `/metrics`, which need no key. */
const OPEN_WORK_MS = 1000;

/** The dependencies of the routes. */
interface RoutesParts extends Omit<GraphqlParts, 'schema' | 'runPlan'> {
  readonly service: Service;
  readonly config: Pick<Config, 'graphiql' | 'publicPath' | 'adminPort'>;
  /** Gives further members for `/readyz`. Throws when the database does not answer or its schema is not current. */
  readonly checkReady: () => Promise<object>;
  readonly isDraining: () => boolean;
  /** The metrics of all processes of this gateway, in Prometheus's text format. */
  readonly collectMetrics: () => Promise<string>;
}

/** Creates the routes of both APIs, of the pages and of the probes. */
export function createRoutes(parts: RoutesParts) {
  const { service, stores, log, metrics, noteDeprecatedUse, config, isDraining } = parts;
  const checkReady = throttle(OPEN_WORK_MS, parts.checkReady);
  const collectMetrics = throttle(OPEN_WORK_MS, parts.collectMetrics);
  const schema = createSchema(service);
  const sdl = printedSchema(schema);
  const rest = createRestApi(service, schema, stores, config.publicPath);
  const graphql = createGraphqlRoutes({ service, schema, stores, log, metrics, noteDeprecatedUse });
  const { openApiPath } = rest;
  const probePaths = config.adminPort === undefined ? PROBE_PATHS : [];
  const pages = createPages({
    ...{ service, operations: rest.operations, probePaths },
    ...{ graphiql: config.graphiql, publicPath: config.publicPath },
    ...{ openApiPath, graphqlPath: GRAPHQL_PATH, sdlPath: SDL_PATH },
    graphqlRefusals: describeRefusals(schema, service.plural),
  });
  const probes = [
    LIVEZ,
    textRoute(PROBES.readyz, 'readyz', 'application/json', async () => {
      if (isDraining()) throw new ApiError('service_unavailable', 'The gateway is shutting down.');
      return JSON.stringify({ status: 'ok', ...(await checkReady()) });
    }),
    // https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
    textRoute(PROBES.metrics, 'metrics', 'text/plain; version=0.0.4', collectMetrics),
  ];
  const { basePath } = service;
  const routes: readonly Route[] = [...rest.routes, ...graphql.routes];
  const open: readonly OpenRoute[] = [
    ...pageRoutes(pages),
    textRoute(openApiPath, 'openapi', 'application/json', ({ baseUrl }) =>
      JSON.stringify(rest.openApiDocument(baseUrl)),
    ),
    textRoute(SDL_PATH, 'sdl', 'text/plain', () => sdl),
    ...probes,
  ];
  const knownPaths = [
    ...new Set(rest.routes.map(({ path }) => path)),
    ...[openApiPath, GRAPHQL_PATH, REFERENCE_PATH, SDL_PATH],
    ...probePaths,
  ];
  const deprecatedRows = rest.routes.flatMap(({ isDeprecated, operation }) => (isDeprecated && operation) || []);
  const coordinates = service.deprecations.map(({ coordinate }) => coordinate);
  metrics.showAtZero(ERROR_CODES, [...deprecatedRows, ...coordinates]);
  return {
    basePath,
    /** The routes that need a key. */
    routes,
    /** THE list of routes that need no key. */
    open,
    notFound: createNotFound(knownPaths, REFERENCE_PATH, config.publicPath),
    apiAt: createApiFinder(basePath, metrics),
    methods: [...new Set(routes.flatMap(({ methods }) => methods))],
    probes: new Set(probes.map(({ operation }) => operation)),
    preload: graphql.preload,
  };
}

/** Creates the function that gives the API of a path, and how it writes errors. */
function createApiFinder(basePath: string, metrics: Metrics): ServeParts['apiAt'] {
  const graphql = { name: 'graphql', writeError: createErrorWriter(metrics) } as const;
  const rest = { name: 'rest', writeError: writeRestError } as const;
  const other = { ...rest, name: 'other' } as const;
  return (path) => {
    if (path === GRAPHQL_PATH) return graphql;
    return isBelow(basePath, path) ? rest : other;
  };
}
