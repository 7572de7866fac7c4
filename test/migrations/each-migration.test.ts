import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Knex } from 'knex';
import { describe, expect, test } from 'vitest';
import type { Database } from '../../src/gateway/database/connect.ts';
import { describeEachEngine, type TestEngine } from '../support/engines.ts';
import { openDatabase } from '../support/prepared.ts';
import { ROOT } from '../support/tracked-files.ts';
import { readRowAdder, readRows, readWholeSchema } from './whole-schema.ts';

interface Migration {
  readonly name: string;
  up(knex: Knex): Promise<void>;
}

const folder = join(ROOT, 'migrations');
const migrations: readonly Migration[] = await Promise.all(
  readdirSync(folder)
    .sort()
    .map(async (name) => ({ name, ...(await import(join(folder, name))) })),
);

/** A database on which all that come before `migration` have run, with a row in each of its tables. */
async function prepareBefore(engine: TestEngine, migration: Migration): Promise<Database> {
  const database = await openDatabase(await engine.freshDatabase());
  for (const { up } of migrations.slice(0, migrations.indexOf(migration))) await up(database.knex);
  await (await readRowAdder(database))();
  return database;
}

describeEachEngine('each migration', (engine) => {
  describe.each(migrations)('$name', (migration) => {
    test('does no harm when it runs again', async () => {
      const database = await prepareBefore(engine, migration);
      await migration.up(database.knex);
      await (await readRowAdder(database))();
      const schema = await readWholeSchema(database);
      const rows = await readRows(database, schema);
      await migration.up(database.knex);
      expect(await readWholeSchema(database)).toEqual(schema);
      expect(await readRows(database, schema)).toEqual(rows);
      await database.close();
    });

    test('leaves the version before it all that it needs, and what it wrote', async () => {
      const database = await prepareBefore(engine, migration);
      const before = await readWholeSchema(database);
      const rows = await readRows(database, before);
      const writeAsBefore = await readRowAdder(database);
      await migration.up(database.knex);
      const after = await readWholeSchema(database);
      expect([...before.keys()].filter((what) => !after.has(what))).toEqual([]);
      const kept = await readRows(database, before);
      for (const [table, written] of Object.entries(rows)) expect(kept[table]).toMatchObject(written);
      // A new column that must be given would be missing here.
      await expect(writeAsBefore()).resolves.toBeUndefined();
      await database.close();
    });
  });

  test('keys that were made before there were read-only ones may write', async () => {
    const adds = migrations.find(({ name }) => name.includes('add_read_only_keys')) ?? expect.fail();
    const database = await prepareBefore(engine, adds);
    await adds.up(database.knex);
    const keys: { readOnly: unknown }[] = await database.knex('api_keys').select('read_only AS readOnly');
    expect(keys.map(({ readOnly }) => Number(readOnly))).toEqual([0]);
    await database.close();
  });
});
