import { deadlineIn } from '../../lib/deadline/deadline.ts';
import { IS_WORKER } from '../cluster-worker.ts';
import { type Config, ConfigError } from '../config.ts';
import { connectDatabase, type Database } from '../database/connect.ts';
import { errorNumber, isRefused, means } from '../database/faults.ts';
import { migrateUp, migrationStatus, requireOwn } from '../database/migrations.ts';
import { schemaProblems } from '../database/schema-check.ts';
import { PROBE_DISTANCE_MS, PROBE_MS } from '../deadlines.ts';
import { ApiError, DatabaseFault } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Table } from './table.ts';
import { checkWrites } from './write-check.ts';

/**
 * Connects to the database and, with MIGRATE_ON_START, migrates it. Throws ConfigError, or DatabaseFault `unavailable` when it cannot
 * be reached.
 */
export async function openDatabase(config: Config, tables: readonly Table[], log: Logger): Promise<Database> {
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
 * Whether the database refused a write by itself, or has a table on which none is tried. No refusal is an error without a number,
 * such as a timeout, a wait for somebody's lock, or what a server says that is leaving, was just made read-only, or had its
 * connection killed.
 */
function refusesWrites(error: unknown): boolean {
  const isOfTheMoment = means(error, 'lockWait', 'rolledBack', 'unknownOutcome', 'notBegun', 'notReady', 'readOnly');
  const number = errorNumber(error);
  if (error instanceof DatabaseFault && error.meaning === 'unusable') return true;
  return number === ER_UNKNOWN_ERROR || (number > 0 && !isOfTheMoment);
}

/**
 * Creates the check of readiness: within PROBE_MS, far away up to PROBE_DISTANCE_MS more, the database answers and no migration is
 * pending; otherwise it throws an ApiError. A single server that takes no writes is ready, because it still answers reads. After a failure each
 * probe tries writes, until the database takes them or refuses only some: a gateway that is not ready gets no requests that would try.
 */
export function createReadinessCheck(database: Database, tables: readonly Table[]) {
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
