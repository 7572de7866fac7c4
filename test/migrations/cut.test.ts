import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Database } from '../../src/gateway/database/connect.ts';
import { migrateUp } from '../../src/gateway/database/migrations.ts';
import { describeEachEngine, ENGINES, type TestEngine } from '../support/engines.ts';
import { openDatabase } from '../support/prepared.ts';
import { ROOT } from '../support/tracked-files.ts';
import { losingItsConnection } from './lost-at.ts';
import { readWholeSchema } from './whole-schema.ts';

const MIGRATIONS = readdirSync(join(ROOT, 'migrations')).length;

/** What a database has now: its schema, and which migrations it calls done. */
async function stateOf(database: Database) {
  const schema = await readWholeSchema(database);
  const done = schema.has('table knex_migrations')
    ? await database.knex('knex_migrations').orderBy('id').pluck('name')
    : [];
  return { schema: Object.fromEntries(schema), done };
}

/** Makes an empty database into what the migrations find. */
type Prepare = (url: string) => Promise<void>;

/** Migrates as far as `most` changing statements, on a connection that is then lost: what was done, and what is left. */
async function migrateCut(engine: TestEngine, prepare: Prepare, most?: number) {
  const url = await engine.freshDatabase();
  await prepare(url);
  const first = await openDatabase(url);
  const { database, done } = losingItsConnection(first, most);
  const outcome = await migrateUp(database).then(
    () => 'whole',
    () => 'cut',
  );
  await first.close(); // the connection is gone, and with it what was not committed
  return { database: await openDatabase(url), outcome, done };
}

/** What is wrong after a cut at any statement and a whole run after it: nothing, and no less than `least` were tried. */
async function expectWholeAfterAnyCut(engine: TestEngine, prepare: Prepare, least: number): Promise<void> {
  const whole = await migrateCut(engine, async () => {});
  const expected = await stateOf(whole.database);
  await whole.database.close();
  const uncut = await migrateCut(engine, prepare);
  expect(await stateOf(uncut.database)).toEqual(expected);
  await uncut.database.close();
  expect(uncut.done.length).toBeGreaterThan(least);
  for (let most = 0; most < uncut.done.length; most++) {
    const { database, outcome, done } = await migrateCut(engine, prepare, most);
    expect(outcome).toBe('cut');
    if (engine.name === 'sqlite') expect(await stateOf(database)).toEqual({ schema: {}, done: [] });
    await migrateUp(database);
    expect(await stateOf(database), `cut after statement ${most}: ${done.at(-1)}`).toEqual(expected);
    await database.close();
  }
}

describeEachEngine('migrations that lose the database', (engine) => {
  test('after any statement are whole after the next run, as if nothing had been', { timeout: 600_000 }, () =>
    // Each is noted by a statement of its own.
    expectWholeAfterAnyCut(engine, async () => {}, 2 * MIGRATIONS),
  );
});

describe.each(ENGINES.filter(({ name }) => name === 'mysql'))(
  '$name › tables that an earlier release left cut',
  (engine) => {
    test('are repaired, and so after any statement of the repair', { timeout: 600_000 }, () =>
      expectWholeAfterAnyCut(engine, leaveCut, 10),
    );
  },
);

/** Keys and indexes are missing, as where a release was cut that added them by statements of their own; a row is there twice. */
async function leaveCut(url: string): Promise<void> {
  const database = await openDatabase(url);
  await migrateUp(database);
  const { knex } = database;
  for (const statement of [
    'ALTER TABLE idempotency_keys DROP PRIMARY KEY, DROP INDEX idempotency_keys_created_at',
    'ALTER TABLE deprecated_use DROP PRIMARY KEY',
    'ALTER TABLE pets DROP INDEX pets_status_id',
    'ALTER TABLE api_keys DROP INDEX api_keys_hash, DROP COLUMN owner_id',
    'ALTER TABLE pets ENGINE=MyISAM',
    'ALTER TABLE knex_migrations ENGINE=MyISAM',
    "INSERT INTO deprecated_use VALUES (1, 'getPet', 20261120, 1, 1), (1, 'getPet', 20261120, 1, 1)",
    "DELETE FROM knex_migrations WHERE name >= '20261121_006'",
  ])
    await knex.raw(statement);
  await database.close();
}
