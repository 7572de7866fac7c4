import type { Knex } from 'knex';
import { describe, expect, test } from 'vitest';
import type { Database } from '../../src/gateway/database/connect.ts';
import { describeEachEngine, type TestEngine } from '../support/engines.ts';
import { openDatabase } from '../support/prepared.ts';
import { ALL, type Migration } from './own-migrations.ts';
import { readRowAdder, readRows, readWholeSchema } from './whole-schema.ts';

type Up = Migration['up'];

/** A database on which these migrations have run, with a row in each of its tables. */
async function prepareAfter(engine: TestEngine, migrations: readonly Migration[]): Promise<Database> {
  const database = await openDatabase(await engine.freshDatabase());
  for (const { up } of migrations) await up(database.knex);
  await (await readRowAdder(database))();
  return database;
}

async function doesNoHarmAgain(database: Database, up: Up): Promise<void> {
  await up(database.knex);
  await (await readRowAdder(database))();
  const schema = await readWholeSchema(database);
  const rows = await readRows(database, schema);
  await up(database.knex);
  expect(await readWholeSchema(database)).toEqual(schema);
  expect(await readRows(database, schema)).toEqual(rows);
}

async function leavesAllToTheVersionBefore(database: Database, up: Up): Promise<void> {
  const before = await readWholeSchema(database);
  const rows = await readRows(database, before);
  const writeAsBefore = await readRowAdder(database);
  await up(database.knex);
  const after = await readWholeSchema(database);
  expect([...before.keys()].filter((what) => !after.has(what))).toEqual([]);
  const kept = await readRows(database, before);
  for (const [table, written] of Object.entries(rows)) expect(kept[table]).toMatchObject(written);
  // A new column that must be given would be missing here.
  await expect(writeAsBefore()).resolves.toBeUndefined();
}

const by = (sql: string) => async (knex: Knex) => knex.raw(sql);

describeEachEngine('each migration', (engine) => {
  describe.each(ALL)('$name', (migration) => {
    const prepare = () => prepareAfter(engine, ALL.slice(0, ALL.indexOf(migration)));

    test('does no harm when it runs again', async () => {
      await doesNoHarmAgain(await prepare(), migration.up);
    });

    test('leaves the version before it all that it needs, and what it wrote', async () => {
      await leavesAllToTheVersionBefore(await prepare(), migration.up);
    });

    test('is taken back without a trace, and does no harm when that runs again', async () => {
      const database = await prepare();
      const before = await readWholeSchema(database);
      await migration.up(database.knex);
      for (let times = 0; times < 2; times++) {
        await migration.down(database.knex);
        expect(await readWholeSchema(database)).toEqual(before);
      }
    });
  });

  test.each([
    ['adds a column without a look', doesNoHarmAgain, by('ALTER TABLE pets ADD COLUMN colour varchar(40) NULL')],
    ['changes values each time', doesNoHarmAgain, by('UPDATE pets SET category_id = category_id + 1')],
    [
      'adds a column that must be given',
      leavesAllToTheVersionBefore,
      by('ALTER TABLE pets ADD COLUMN colour varchar(40) NOT NULL'),
    ],
    ['renames a column', leavesAllToTheVersionBefore, by('ALTER TABLE pets RENAME COLUMN name TO called')],
    ['takes rows away', leavesAllToTheVersionBefore, by('DELETE FROM pets')],
  ])('one that %s is noticed', async (_what, guard, up) => {
    await expect(guard(await prepareAfter(engine, ALL), up)).rejects.toThrow();
  });
});
