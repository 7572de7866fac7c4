import type { Config } from './config.ts';
import { LAST_COUNTS_MS } from './deadlines.ts';
import { shareLimitsOf, watchEventLoop } from './http/admission.ts';
import { createApp } from './http/app.ts';
import { createRecords } from './idempotency/idempotency-records.ts';
import { createAuthenticator } from './keys/authenticator.ts';
import { createKeyStore } from './keys/key-store.ts';
import { createRateLimit } from './keys/rate-limit.ts';
import { createDeprecatedUseStore, createUsage } from './keys/usage.ts';
import { droppedLines, type Logger } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { createRoutes } from './routes.ts';
import type { Service } from './service.ts';
import { createReadinessCheck, openDatabase } from './store/readiness.ts';
import { createStores } from './store/store.ts';

/** A service with its database and its app; it does not listen. */
export type Gateway = Awaited<ReturnType<typeof createGateway>>;

/** How often expired idempotency records are removed, in ms. */
const SWEEP_MS = 600_000;

interface GatewayParts {
  readonly service: Service;
  readonly config: Config;
  readonly log: Logger;
  /** Creates the function that collects the metrics of several processes; by default only those of this process. */
  readonly collectMetrics?: ((registry: Metrics['registry'], log: Logger) => () => Promise<string>) | undefined;
}

/** Wires the rooms to the gateway of a service. Errors of `openDatabase`. */
export async function createGateway({ service, config, log, collectMetrics }: GatewayParts) {
  const tables = service.resources.map(({ table }) => table);
  const database = await openDatabase(config, tables, log);
  const stores = createStores(database, config.bodyLimitBytes);
  const keys = createKeyStore(database);
  const usage = createUsage(keys, createDeprecatedUseStore(database), log);
  const metrics = createMetrics(database.poolState, () => droppedLines(log), keys.countExpiring);
  const records = createRecords(database);
  let draining = false;
  const isDraining = () => draining;
  const noteDeprecatedUse = (apiKeyId: string, operation: string) => {
    usage.noteDeprecatedUse(apiKeyId, operation);
    metrics.countDeprecatedUse(operation);
  };
  const routes = createRoutes({
    ...{ service, config, log, metrics, stores, noteDeprecatedUse, isDraining },
    checkReady: createReadinessCheck(database, tables),
    collectMetrics: collectMetrics?.(metrics.registry, log) ?? (() => metrics.registry.metrics()),
  });
  const eventLoop = watchEventLoop();
  const koa = createApp({
    ...{ ...routes, config, log, metrics, usage, noteDeprecatedUse, isDraining },
    authenticator: createAuthenticator(keys),
    rateLimit: config.rateLimit && createRateLimit(config.rateLimit),
    limits: shareLimitsOf(config.workers, config.bodyLimitBytes),
    bodyLimitBytes: config.bodyLimitBytes,
    isBehind: eventLoop.isBehind,
  });
  const sweep = () =>
    records.sweep().catch((error) => log.warn({ err: error }, 'old idempotency records could not be removed'));
  const sweeper = setInterval(sweep, SWEEP_MS).unref();
  return {
    service,
    app: { ...routes, koa },
    database,
    keys,
    stores,
    metrics,
    /** Loads what would have slowed the start. Afterwards an upgrade may replace the files, but GraphiQL's. */
    preload: () => Promise.all([database.preload(), routes.preload()]),
    isDraining,
    /** Makes `/readyz` answer 503 and every answer close its connection; begins to write the counts. */
    drain() {
      draining = true;
      usage.drain();
    },
    /** Writes the counts that are left, within `leftMs` and LAST_COUNTS_MS, and closes the database. */
    async close(leftMs = 0) {
      clearInterval(sweeper);
      eventLoop.close();
      await usage.close(leftMs + LAST_COUNTS_MS);
      await database.close();
    },
  };
}
