import { hash } from 'node:crypto';
import type { Knex } from 'knex';
import { deadlineIn, remainingMs } from '../../lib/deadline/deadline.ts';
import { ConfigError } from '../config.ts';
import { MIGRATION_LOCK_MS, REQUEST_MS } from '../deadlines.ts';
import { DatabaseFault } from '../errors.ts';
import { PRODUCT } from '../product.ts';
import type { Database } from './connect.ts';
import { means } from './faults.ts';
import { listMigrations, MIGRATIONS, MIGRATIONS_FOLDER, whyForeign } from './migration-files.ts';
import { foreignTables } from './schema-check.ts';

const CONFIG: Knex.MigratorConfig = { directory: MIGRATIONS_FOLDER, loadExtensions: ['.ts'] };

/** Runs each pending migration, once for all processes; gives the names of those that this call ran. Errors of requireOwn. */
export async function migrateUp(database: Database, directory = [MIGRATIONS_FOLDER]): Promise<string[]> {
  // When nothing is pending, the lock is not needed. Then the schema of a newer version is accepted, too.
  if ((await requireOwn(database, listMigrations(directory))).length === 0) return [];
  const latest = (knex: Knex) => knex.migrate.latest({ ...CONFIG, directory });
  const [, names] = await underLock<[number, string[]]>(database, latest);
  return names;
}

/** Rolls back the batch of migrations that is the last one now; gives their names. What another process has rolled back meanwhile is not one more. */
export async function migrateDown(database: Database): Promise<string[]> {
  const lastOf = async (knex: Knex) => (await knex('knex_migrations').max({ batch: 'batch' }).first())?.batch;
  const last = (await migrationStatus(database)).completed.length > 0 ? await database.run(lastOf) : undefined;
  if (last === undefined) return [];
  const rollback = async (knex: Knex) =>
    (await lastOf(knex)) === last ? await knex.migrate.rollback(CONFIG) : [0, []];
  const [, names] = await underLock<[number, string[]]>(database, rollback);
  return names;
}

/**
 * The names of the pending migrations. Errors of migrationStatus; ConfigError when a table that one of them would make is there, and is
 * of another program. Of a migration that was cut, MySQL has the whole table, or none.
 */
export async function requireOwn(database: Database, migrations: readonly string[] = MIGRATIONS): Promise<string[]> {
  const { pending } = await migrationStatus(database, undefined, migrations);
  const suspects = pending.length > 0 ? await foreignTables(database, pending) : [];
  // Again: another process may be making it, and MariaDB reads columns and indexes one after the other.
  const [foreign] =
    suspects.length > 0 ? (await foreignTables(database, pending)).filter((table) => suspects.includes(table)) : [];
  if (foreign !== undefined) throw await refusal(database, `its table ${foreign} is of another program`);
  return pending;
}

const NAME_SQL = { mysql: 'SELECT DATABASE() AS name', sqlite: 'SELECT file AS name FROM pragma_database_list' };

async function refusal({ engine, query }: Database, why: string): Promise<ConfigError> {
  const [found] = await query<{ name: string }>(NAME_SQL[engine], [], undefined);
  return new ConfigError(`DATABASE_URL: ${found?.name} is not used and stays as it is: ${why}`);
}

// Knex's own `migrate.list` is not used, because it would create its tables in an empty database.
const DONE_TABLE = {
  mysql: 'information_schema.tables WHERE table_schema = DATABASE() AND table_name =',
  sqlite: 'sqlite_master WHERE name =',
};

/**
 * The names of the completed and the pending migrations; changes nothing. DatabaseFault `unavailable` at the deadline;
 * ConfigError when the database is of another program, or a store of before 1.0.0.
 */
export async function migrationStatus(
  database: Database,
  deadline = deadlineIn(REQUEST_MS),
  migrations: readonly string[] = MIGRATIONS,
) {
  const read = <Row>(sql: string) => database.query<Row>(sql, [], deadline);
  const found = await read(`SELECT 1 AS found FROM ${DONE_TABLE[database.engine]} 'knex_migrations'`);
  const done = found.length > 0 ? await read<{ name: string }>('SELECT name FROM knex_migrations ORDER BY id') : [];
  const completed = done.map(({ name }) => name);
  const why = whyForeign(completed);
  if (why !== undefined) throw await refusal(database, why);
  return { completed, pending: migrations.filter((name) => !completed.includes(name)) };
}

/**
 * Runs `work` under a lock that ends with its connection. Knex's own lock, a row, makes a second runner fail instead of wait,
 * and stays set when a runner is killed (knex#2125, #3538).
 */
async function underLock<T>(database: Database, work: (knex: Knex) => Promise<T>): Promise<T> {
  const own = database.forLongWork();
  const done = database.engine === 'sqlite' ? underFileLock(own, work) : underNamedLock(own, work);
  return done.finally(own.close);
}

/** SQLite: one IMMEDIATE transaction around `work` is the lock. It also rolls back an incomplete migration. */
async function underFileLock<T>(database: Database, work: (knex: Knex) => Promise<T>): Promise<T> {
  for (const deadline = deadlineIn(MIGRATION_LOCK_MS); ; ) {
    try {
      return await database.run((knex) => knex.transaction(work));
    } catch (error) {
      // The busy retry of a connection is as short as a request needs, so a migration repeats it.
      if (!means(error, 'lockWait') || remainingMs(deadline) === 0) throw error;
    }
  }
}

function underNamedLock<T>(database: Database, work: (knex: Knex) => Promise<T>): Promise<T> {
  return database.run(async (knex) => {
    const [[found]] = await knex.raw('SELECT DATABASE() AS name');
    // Named locks are global to the server, and their names have at most 64 characters. Computed here, because Vitess evaluates
    // the name of a lock itself, and knows a part of the functions only.
    const name = `${PRODUCT}_${hash('sha256', found.name)}`.slice(0, 64);
    const connection: unknown = await knex.client.acquireConnection();
    const ask = (sql: string, bindings: Knex.RawBinding[]) => knex.raw(sql, bindings).connection(connection);
    try {
      const [[answer]] = await ask('SELECT GET_LOCK(?, ?) AS taken', [name, MIGRATION_LOCK_MS / 1000]);
      if (Number(answer.taken) !== 1)
        throw new DatabaseFault('unavailable', new Error('another process is still migrating'));
      await knex.migrate.forceFreeMigrationsLock(CONFIG);
      return await work(knex);
    } finally {
      await ask('SELECT RELEASE_LOCK(?)', [name]).catch(() => {}); // the end of the connection releases the lock, too
      knex.client.releaseConnection(connection);
    }
  });
}
