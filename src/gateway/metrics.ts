import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { throttle } from './caches.ts';
import { ERRORS } from './errors.ts';
import { PRODUCT, VERSION } from './product.ts';

const APIS = ['rest', 'graphql', 'other'] as const;

/** The API that served a request; `other` for pages, probes and unknown paths. */
export type ApiName = (typeof APIS)[number];

/** The meters of one process. */
export type Metrics = ReturnType<typeof createMetrics>;

/** How often keys that expire are counted, in ms. */
const EXPIRING_MS = 60_000;

/**
 * Creates all meters, named as in https://prometheus.io/docs/practices/naming/. No label has values from outside.
 * `poolState` and `droppedLines` are read at each scrape; `countExpiring` is called then, for the scrapes to come.
 */
export function createMetrics(
  poolState: () => Readonly<Record<string, number>>,
  droppedLines: () => number = () => 0,
  countExpiring: () => Promise<number> = async () => 0,
) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // prom-client gives the mean over workers, in which one that is late is lost:
  // https://github.com/siimon/prom-client/blob/v15.1.3/lib/metrics/eventLoopLag.js
  Object.assign(registry.getSingleMetric('nodejs_eventloop_lag_p99_seconds') as object, { aggregator: 'max' });
  const registers = [registry];
  addState(registers, poolState, droppedLines);
  addExpiringKeys(registers, countExpiring);
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request header to the end of the response; its count is the number of requests.',
    labelNames: ['api', 'operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  });
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const operations = counter('graphql_operations_total', 'GraphQL operations run, by type.', ['type']);
  const errors = counter('graphql_errors_total', 'GraphQL errors in responses, by extensions.code.', ['code']);
  const deprecated = counter('deprecated_use_total', 'Uses of what is deprecated.', ['operation']);
  const shed = counter('http_requests_shed_total', 'Requests refused early because of overload.', []);
  const failed = counter('http_requests_failed_total', 'Requests answered with 500 and above.', ['api', 'status']);
  for (const { status } of Object.values(ERRORS)) {
    if (isFailure(status)) for (const api of APIS) failed.inc({ api, status }, 0);
  }
  return {
    registry,
    countRequest(api: ApiName, operation: string, status: number, seconds: number) {
      requests.observe({ api, operation, status }, seconds);
      if (isFailure(status)) failed.inc({ api, status });
    },
    countGraphqlOperation: (type: 'query' | 'mutation' | 'subscription') => operations.inc({ type }),
    countGraphqlError: (code: string) => errors.inc({ code }),
    countDeprecatedUse: (operation: string) => deprecated.inc({ operation }),
    countShedRequest: () => shed.inc(),
    /**
     * Shows these codes of GraphQL errors and these deprecated operations at 0. Prometheus sees no increase in a series
     * that first appears above 0: https://prometheus.io/docs/practices/instrumentation/#avoid-missing-metrics
     */
    showAtZero(codes: Iterable<string>, deprecatedOperations: Iterable<string>) {
      for (const code of codes) errors.inc({ code }, 0);
      for (const operation of deprecatedOperations) deprecated.inc({ operation }, 0);
    },
  };
}

/** Adds what is read at each scrape, and what does not change. */
function addState(registers: Registry[], poolState: () => Readonly<Record<string, number>>, dropped: () => number) {
  new Counter({
    name: 'log_lines_dropped_total',
    help: 'Lines of the log that standard output did not take.',
    registers,
    collect() {
      this.reset();
      this.inc(dropped());
    },
  });
  new Gauge({
    name: 'database_pool_connections',
    help: 'Connections of the pool in use and free, and requests that wait for one.',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(poolState())) this.set({ state }, count);
    },
  });
  new Gauge({
    name: `${PRODUCT}_build_info`,
    help: 'Always 1.',
    labelNames: ['version', 'node'],
    aggregator: 'first', // over several workers
    registers,
  }).set({ version: VERSION, node: process.version }, 1);
}

/** Adds the count of keys that expire. No scrape waits for the database; while it is away, the last count stays. */
function addExpiringKeys(registers: Registry[], countExpiring: () => Promise<number>) {
  const gauge = new Gauge({
    name: 'api_keys_expiring',
    help: 'Valid API keys that expire within a week and have no successor.',
    aggregator: 'max', // each worker counts the same keys
    registers,
    collect: () => void count(),
  });
  const count = throttle(EXPIRING_MS, () =>
    countExpiring().then(
      (keys) => gauge.set(keys),
      () => {},
    ),
  );
}

const isFailure = (status: number) => status >= 500;
