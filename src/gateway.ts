import { type Config, ConfigError } from './config.ts';
import { connectDatabase, type Database } from './database/connect.ts';
import { errorNumber } from './database/faults.ts';
import { migrateUp, migrationStatus } from './database/migrations.ts';
import { engineProblems } from './database/schema-check.ts';
import { type Deadline, deadlineIn } from './deadline.ts';
import { PROBE_MS } from './deadlines.ts';
import { ApiError, DatabaseFault } from './errors.ts';
import { type App, createApp } from './http/app.ts';
import { createRecords } from './idempotency/idempotency-records.ts';
import { createAuthenticator } from './keys/authenticator.ts';
import { createDeprecatedUseStore } from './keys/deprecated-use.ts';
import { createKeyStore, type KeyStore } from './keys/key-store.ts';
import { createUsage } from './keys/usage.ts';
import { droppedLines, type Logger } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import type { Service } from './service.ts';
import { checkWrites, createStores, type Stores } from './store/store.ts';

/** What a gateway is made of. */
export interface GatewayParts {
  readonly service: Service;
  readonly config: Config;
  readonly log: Logger;
  /** Gives the metrics page of several processes; by default it is this one's. */
  readonly collectMetrics?: (() => Promise<string>) | undefined;
}

/** The rooms, wired; it listens nowhere. */
export interface Gateway {
  readonly service: Service;
  readonly app: App;
  readonly database: Database;
  readonly keys: KeyStore;
  readonly stores: Stores;
  readonly metrics: Metrics;
  /** From now on `/readyz` says 503, and every answer ends its connection. */
  drain(): void;
  /** Writes what is still in memory and closes the database. */
  close(): Promise<void>;
}

/** How often idempotency records that are too old are taken away, in ms. */
const SWEEP_MS = 600_000;

/**
 * The gateway of a service, on a database that has answered and, with MIGRATE_ON_START, has been migrated. Throws
 * ConfigError, or DatabaseFault `unavailable` when the database is away.
 */
export async function createGateway({ service, config, log, collectMetrics }: GatewayParts): Promise<Gateway> {
  const database = await openDatabase(config, service);
  const stores = createStores(database);
  const keys = createKeyStore(database);
  const usage = createUsage(keys, createDeprecatedUseStore(database), log);
  const metrics = createMetrics(database.poolState, () => droppedLines(log));
  const records = createRecords(database);
  let draining = false;
  const app = createApp({
    service,
    config,
    log,
    metrics,
    stores,
    usage,
    authenticator: createAuthenticator(keys),
    checkReady: readinessCheck(database, service),
    isDraining: () => draining,
    collectMetrics: collectMetrics ?? (() => metrics.registry.metrics()),
  });
  const sweep = () =>
    records.sweep().catch((error) => log.warn({ err: error }, 'old idempotency records could not be removed'));
  const sweeper = setInterval(sweep, SWEEP_MS).unref();
  return {
    service,
    app,
    database,
    keys,
    stores,
    metrics,
    drain() {
      draining = true;
    },
    async close() {
      clearInterval(sweeper);
      await usage.close();
      await database.close();
    },
  };
}

async function openDatabase(config: Config, { resources }: Service): Promise<Database> {
  const database = connectDatabase(config);
  try {
    await database.ping();
    if (config.migrateOnStart) await migrateUp(database);
    const tables = resources.map(({ table }) => table.name);
    const [problem] = await engineProblems(database, ['idempotency_keys', ...tables]); // retries could double
    if (problem !== undefined) throw new ConfigError(problem);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/**
 * Ready: the database answers, and no migration is pending; a rollback may make it so under way. A server that is the only one
 * and takes no writes still answers reads: that is told, and is no reason to send readers away. After something has failed a
 * write is tried that adds nothing, until the database no longer refuses it: nobody else may try, because a load balancer sends
 * nobody here. All of it has the time of one probe.
 */
function readinessCheck(database: Database, service: Service): () => Promise<{ database: string }> {
  let checkedFailures = database.failures();
  const tables = service.resources.map(({ table }) => table);
  const checkDoubtfulWrites = async (deadline: Deadline) => {
    const failures = database.failures();
    if (failures === checkedFailures || !database.takesWrites()) return;
    await checkWrites(database, tables, deadline).catch((error) => {
      // One that waits for a lock is no refusal.
      if (errorNumber(error) > 0) throw unavailable('The database refuses writes.', error);
    });
    checkedFailures = failures;
  };
  const unavailable = (message: string, cause: unknown) => new ApiError('service_unavailable', message, { cause });
  const pendingMigrations = async (deadline: Deadline) => {
    try {
      return (await migrationStatus(database, deadline)).pending;
    } catch (error) {
      const isWithoutWriter = error instanceof DatabaseFault && error.meaning === 'noWriter';
      const why = isWithoutWriter ? 'No server of the database takes writes.' : 'The database does not answer.';
      throw unavailable(why, error);
    }
  };
  return async () => {
    const deadline = deadlineIn(PROBE_MS);
    if ((await pendingMigrations(deadline)).length > 0)
      throw unavailable('Migrations are pending: npm run migrate.', undefined);
    await checkDoubtfulWrites(deadline);
    return { database: database.takesWrites() ? 'ok' : 'takes no writes' };
  };
}
