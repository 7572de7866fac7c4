import { deadlineIn } from '../lib/deadline/deadline.ts';
import { IS_WORKER } from './cluster-worker.ts';
import { type Config, ConfigError } from './config.ts';
import { connectDatabase, type Database } from './database/connect.ts';
import { errorNumber, isRefused, means } from './database/faults.ts';
import { migrateUp, migrationStatus, requireOwn } from './database/migrations.ts';
import { schemaProblems } from './database/schema-check.ts';
import { LAST_COUNTS_MS, PROBE_DISTANCE_MS, PROBE_MS } from './deadlines.ts';
import { ApiError, DatabaseFault } from './errors.ts';
import { shareLimitsOf } from './http/admission.ts';
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
import { createStores } from './store/store.ts';
import type { Table } from './store/table.ts';
import { checkWrites } from './store/write-check.ts';

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

/**
 * Wires the rooms to the gateway of a service. Connects to the database and, with MIGRATE_ON_START, migrates it. Throws
 * ConfigError, or DatabaseFault `unavailable` when the database cannot be reached.
 */
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
    checkReady: readinessCheck(database, tables),
    collectMetrics: collectMetrics?.(metrics.registry, log) ?? (() => metrics.registry.metrics()),
  });
  const koa = createApp({
    ...{ ...routes, config, log, metrics, usage, noteDeprecatedUse, isDraining },
    authenticator: createAuthenticator(keys),
    rateLimit: config.rateLimit && createRateLimit(config.rateLimit),
    limits: shareLimitsOf(config.workers, config.bodyLimitBytes),
    bodyLimitBytes: config.bodyLimitBytes,
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
    async preload(): Promise<void> {
      if (!draining) await Promise.all([database.preload(), routes.preload()]);
    },
    /** Makes `/readyz` answer 503 and every answer close its connection; begins to write the counts. */
    drain() {
      draining = true;
      usage.drain();
    },
    /** Writes the counts that are left, within `leftMs` and LAST_COUNTS_MS, and closes the database. */
    async close(leftMs = 0) {
      clearInterval(sweeper);
      await usage.close(leftMs + LAST_COUNTS_MS);
      await database.close();
    },
  };
}

async function openDatabase(config: Config, tables: readonly Table[], log: Logger): Promise<Database> {
  const database = await connectDatabase(config, (what) => log.warn(what));
  try {
    await database.ping();
    if (config.migrateOnStart) await migrateUp(database);
    if (!IS_WORKER && (config.migrateOnStart || (await requireOwn(database)).length === 0)) {
      const [problem] = await schemaProblems(database);
      if (problem !== undefined) throw new ConfigError(`the schema is not as the migrations make it: ${problem}`);
      if (database.takesWrites()) await tryWrites(database, tables, log);
    }
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Throws ConfigError when the database changes what is written. Writes that it refuses, wholly or of some values, are logged. */
async function tryWrites(database: Database, tables: readonly Table[], log: Logger): Promise<void> {
  const problem = await checkWrites(database, tables, { ids: 'of ours' }).catch((error) => {
    if (refusesWrites(error)) log.warn({ err: error }, 'the database refuses writes, or some: npm run doctor');
  });
  if (problem !== undefined) throw new ConfigError(`the database changes what is written: ${problem}`);
}

/** What Vitess gives for any error, also a lasting one. */
const ER_UNKNOWN_ERROR = 1105;

/**
 * Whether the database refused a write by itself. No refusal is an error without a number, such as a timeout, a wait for somebody's
 * lock, or what a server says that is leaving, was just made read-only, or had its connection killed.
 */
function refusesWrites(error: unknown): boolean {
  const isOfTheMoment = means(error, 'lockWait', 'rolledBack', 'unknownOutcome', 'notBegun', 'notReady', 'readOnly');
  const number = errorNumber(error);
  return number === ER_UNKNOWN_ERROR || (number > 0 && !isOfTheMoment);
}

/**
 * Gives the check of readiness: within PROBE_MS, far away up to PROBE_DISTANCE_MS more, the database answers and no migration is
 * pending; otherwise it throws an ApiError. A single server that takes no writes is ready, because it still answers reads. After a failure each
 * probe tries writes, until the database takes them or refuses only some: a gateway that is not ready gets no requests that would try.
 */
function readinessCheck(database: Database, tables: readonly Table[]): () => Promise<{ database: string }> {
  const notReady = (why: string, cause?: unknown) => new ApiError('service_unavailable', why, { cause });
  let checkedFailures = database.failures();
  return async () => {
    // Round trips: the two of the migrations, the role check before them, and one that another waits for.
    const deadline = deadlineIn(PROBE_MS + Math.min(4 * database.roundTripMs(), PROBE_DISTANCE_MS));
    const { pending } = await migrationStatus(database, deadline).catch((error) => {
      const isWithoutWriter = error instanceof DatabaseFault && error.meaning === 'noWriter';
      throw notReady(isWithoutWriter ? error.message : 'The database does not answer.', error);
    });
    if (pending.length > 0) throw notReady('Migrations are pending: npm run migrate.');
    const failures = database.failures();
    if (failures !== checkedFailures && database.takesWrites()) {
      let ownFailures = 0;
      await checkWrites(database, tables, { deadline }).catch((error) => {
        // Where only some values are refused, the others are served.
        if (isRefused(error)) ownFailures = 1;
        else if (refusesWrites(error)) throw notReady('The database refuses writes.', error);
      });
      checkedFailures = failures + ownFailures;
    }
    return { database: database.takesWrites() ? 'ok' : 'takes no writes' };
  };
}
