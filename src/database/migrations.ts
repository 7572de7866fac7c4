import type { Knex } from 'knex';
import { deadlineIn } from '../deadline.ts';
import { MIGRATION_LOCK_MS } from '../deadlines.ts';
import { DatabaseFault } from '../errors.ts';
import { PRODUCT } from '../product.ts';
import type { Database } from './connect.ts';
import { listMigrations, MIGRATIONS_FOLDER } from './migration-files.ts';
import { isBusy } from './sqlite/sqlite-connection.ts';

// Named locks are the server's, not the database's; their names have 64 characters at most.
const LOCK_NAME = `LEFT(CONCAT('${PRODUCT}_', SHA2(DATABASE(), 256)), 64)`;

const MIGRATIONS: Knex.MigratorConfig = {
  directory: MIGRATIONS_FOLDER,
  loadExtensions: ['.ts'],
};

/** Runs every pending migration, once however many processes ask for it; gives the names that ran here. */
export async function migrateUp(database: Database): Promise<string[]> {
  // Then there is no lock to wait for, and nothing wrong with a schema that a newer version has added to.
  if ((await migrationStatus(database)).pending.length === 0) return [];
  return underLock(database, async (knex) => {
    const [, names]: [number, string[]] = await knex.migrate.latest(MIGRATIONS);
    return names;
  });
}

/** Takes back what the last `migrateUp` that had work did; gives the names of the migrations undone. */
export function migrateDown(database: Database): Promise<string[]> {
  return underLock(database, async (knex) => {
    const [, names]: [number, string[]] = await knex.migrate.rollback(MIGRATIONS);
    return names;
  });
}

// Knex's own list would create its tables: a look at an empty database leaves it empty.
const DONE_TABLE = {
  mysql: 'information_schema.tables WHERE table_schema = DATABASE() AND table_name =',
  sqlite: 'sqlite_master WHERE name =',
};

/** The names of the migrations that are done and of those that are not; changes nothing. DatabaseFault `unavailable` at the deadline, by default a request's. */
export async function migrationStatus(database: Database, deadline = deadlineIn()) {
  const read = <Row>(sql: string) => database.query<Row>(sql, [], deadline);
  const found = await read(`SELECT 1 AS found FROM ${DONE_TABLE[database.engine]} 'knex_migrations'`);
  const done = found.length > 0 ? await read<{ name: string }>('SELECT name FROM knex_migrations ORDER BY id') : [];
  const completed = done.map(({ name }) => name);
  return { completed, pending: listMigrations().filter((name) => !completed.includes(name)) };
}

/**
 * Knex's own lock row makes a second runner fail, and stays set when a runner is killed (knex#2125,
 * #3538): here the database's own lock is held around it, which a dead connection gives back.
 */
async function underLock<T>(database: Database, work: (knex: Knex) => Promise<T>): Promise<T> {
  const unhurried = database.unhurried();
  try {
    if (database.engine === 'sqlite') return await underFileLock(unhurried, work);
    return await unhurried.run((knex) => underNamedLock(knex, work));
  } finally {
    await unhurried.close();
  }
}

/** SQLite: one IMMEDIATE transaction around all of it is the lock, and undoes half a migration. */
async function underFileLock<T>(database: Database, work: (knex: Knex) => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + MIGRATION_LOCK_MS; ; ) {
    try {
      return await database.run((knex) => knex.transaction(work));
    } catch (error) {
      // The connection itself waits only as long as a request may: here it waits again.
      if (!isBusy(error instanceof DatabaseFault && error.cause) || performance.now() > deadline) throw error;
    }
  }
}

async function underNamedLock<T>(knex: Knex, work: (knex: Knex) => Promise<T>): Promise<T> {
  const connection: unknown = await knex.client.acquireConnection();
  const ask = (sql: string, bindings: Knex.RawBinding[]) => knex.raw(sql, bindings).connection(connection);
  try {
    const [[answer]] = await ask(`SELECT GET_LOCK(${LOCK_NAME}, ?) AS taken`, [MIGRATION_LOCK_MS / 1000]);
    if (Number(answer.taken) !== 1)
      throw new DatabaseFault('unavailable', new Error('another process is still migrating'));
    await knex.migrate.forceFreeMigrationsLock(MIGRATIONS);
    return await work(knex);
  } finally {
    await ask(`SELECT RELEASE_LOCK(${LOCK_NAME})`, []).catch(() => {}); // gone with the connection anyway
    knex.client.releaseConnection(connection);
  }
}
