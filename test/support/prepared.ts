import { readConfig } from '../../src/gateway/config.ts';
import { connectDatabase, type Database } from '../../src/gateway/database/connect.ts';
import { means } from '../../src/gateway/database/faults.ts';
import { migrateUp } from '../../src/gateway/database/migrations.ts';
import { DatabaseFault } from '../../src/gateway/errors.ts';
import { createKeyStore, type KeyStore } from '../../src/gateway/keys/key-store.ts';
import { afterFile, type TestEngine } from './engines.ts';
import { startProcess } from './process.ts';
import { msSince } from './stall-clock.ts';

/** A migrated database with an API key, for gateways that run as processes; closed after the test file. */
export interface PreparedDatabase {
  /** Its DATABASE_URL. */
  readonly url: string;
  readonly database: Database;
  readonly keys: KeyStore;
  /** A valid API key, and its id. */
  readonly key: string;
  readonly keyId: string;
  /** How many animals each name has. */
  countNames(): Promise<Map<string, number>>;
}

/** Opens the database of a `DATABASE_URL`, as it is; it is closed after the test file. */
export async function openDatabase(url: string, settings: Record<string, string> = {}): Promise<Database> {
  const database = await connectDatabase(readConfig({ DATABASE_URL: url, ...settings }));
  afterFile(() => database.close());
  return database;
}

/** For how long a silent database is asked again, in ms. */
export const ANSWERS_WITHIN_MS = 30_000;

/** Whether a database, or the pool before it, gave no answer in time. */
function isUnanswered(error: unknown): boolean {
  const cause = error instanceof DatabaseFault ? error.cause : error;
  return cause instanceof Error && 'code' in cause && cause.code === 'POOL_TIMEOUT';
}

/** Whether an error is of a machine that was held up: a lock or an answer did not come in time. */
export function isLateFault(error: unknown): boolean {
  return means(error, 'lockWait') || isUnanswered(error);
}

/**
 * What `work` gives, tried again, as a start does it, while the database gives no answer in time: a connection has 2.5 s once, which
 * may not do on a machine that is held up.
 */
export async function onceAnswered<T>(work: () => Promise<T>): Promise<T> {
  for (const startedAt = performance.now(); ; ) {
    try {
      return await work();
    } catch (error) {
      if (!isUnanswered(error) || msSince(startedAt) > ANSWERS_WITHIN_MS) throw error;
    }
  }
}

/** Prepares an empty database of the engine, or the one at `url`. */
export async function prepareDatabase(engine: TestEngine, url?: string): Promise<PreparedDatabase> {
  const address = url ?? (await engine.freshDatabase());
  const database = await openDatabase(address);
  await onceAnswered(() => migrateUp(database));
  const keys = createKeyStore(database);
  const { id, key } = await keys.create({ name: 'test', expiresAt: null });
  return {
    url: address,
    database,
    keys,
    key,
    keyId: id,
    async countNames() {
      const rows: { name: string }[] = await database.knex('pets').select('name');
      const counts = new Map<string, number>();
      for (const { name } of rows) counts.set(name, (counts.get(name) ?? 0) + 1);
      return counts;
    },
  };
}

/** A gateway as a process of its own, on a database that is prepared for it. */
export async function startPrepared(engine: TestEngine, env: Record<string, string> = {}, node?: string) {
  const prepared = await prepareDatabase(engine);
  const gateway = await startProcess({ DATABASE_URL: prepared.url, ...env }, undefined, node);
  return { prepared, gateway, key: prepared.key };
}
