import { expect, test } from 'vitest';
import { ConfigError } from '../../src/gateway/config.ts';
import type { Database } from '../../src/gateway/database/connect.ts';
import { migrateDown, migrateUp, requireOwn } from '../../src/gateway/database/migrations.ts';
import type { Binding } from '../../src/gateway/kinds.ts';
import { describeEachEngine, describeOnMysql, SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { openDatabase, prepareDatabase } from '../support/prepared.ts';

// What a shared database of a server may have already. A file of SQLite that is foreign as a whole is refused before it is opened:
// unit/sqlite-store.
const FOREIGN = {
  'a table of the same name': [
    'CREATE TABLE pets (id int PRIMARY KEY, title text)',
    'INSERT INTO pets VALUES (1, NULL)',
  ],
  'a table of the same name, whose old rows would be swept': [
    'CREATE TABLE idempotency_keys (id varchar(36) PRIMARY KEY, response text, created_at bigint)',
    "INSERT INTO idempotency_keys VALUES ('a', 'b', 1700000000)",
  ],
  'the migrations of another program': [
    'CREATE TABLE knex_migrations (id int, name varchar(255), batch int, migration_time timestamp)',
    "INSERT INTO knex_migrations VALUES (1, '1_init.js', 1, NOW())",
  ],
};

describeOnMysql('a database of another program', (engine) => {
  test.each(Object.entries(FOREIGN))('with %s is refused by name, and stays as it is', async (_what, statements) => {
    const url = await engine.freshDatabase();
    const database = await openDatabase(url);
    for (const statement of statements) await database.knex.raw(statement);
    const [table = ''] = /(?<=TABLE )\w+/.exec(statements[0] ?? '') ?? [];
    const state = async () => [
      await database.knex.raw('SHOW TABLES').then(([tables]) => tables),
      await database.knex(table),
    ];
    const before = await state();
    const refusal = /^DATABASE_URL: \w+ is not used and stays as it is: .* of another program$/;
    await expect(migrateUp(database)).rejects.toThrow(refusal);
    for (const MIGRATE_ON_START of ['true', 'false']) {
      const start = startGateway(engine, { DATABASE_URL: url, MIGRATE_ON_START, LOG_LEVEL: 'silent' });
      await expect(start).rejects.toThrow(refusal);
    }
    expect(await state()).toEqual(before);
  });
});

test('a table of another program in a store of ours is refused by name', async () => {
  const { database, url } = await prepareDatabase(SQLITE);
  await database.knex('knex_migrations').where('name', 'like', '%deprecated_use%').delete();
  await database.knex.schema.dropTable('deprecated_use');
  await database.knex.raw('CREATE TABLE deprecated_use (x)');
  const path = url.slice('sqlite:'.length);
  const refusal = `DATABASE_URL: ${path} is not used and stays as it is: its table deprecated_use is of another program`;
  await expect(migrateUp(database)).rejects.toThrow(new ConfigError(refusal));
});

// MariaDB fills `columns` and `statistics` one after the other, so a table that is being made may be seen by halves.
test('a table that another process is making is not foreign', async () => {
  const { database } = await prepareDatabase(SQLITE);
  await database.knex('knex_migrations').where('name', 'like', '%create_pets%').delete();
  let looks = 0;
  const query: Database['query'] = async <Row>(sql: string, ...rest: [readonly Binding[], undefined]) => {
    const rows = await database.query<Row & { table?: string; index?: string }>(sql, ...rest);
    const isLook = sql.includes('pragma_table_info') && looks++ === 0;
    return isLook ? rows.filter(({ table, index }) => table !== 'pets' || index) : rows;
  };
  expect(await requireOwn({ ...database, query })).toHaveLength(1);
  expect(looks).toBe(2);
});

describeEachEngine('two rollbacks at once', (engine) => {
  test('take back one batch', async () => {
    const { database, url } = await prepareDatabase(engine);
    const [last] = await database.knex('knex_migrations').orderBy('id', 'desc').limit(1).pluck('name');
    await database.knex('knex_migrations').where({ name: last }).update({ batch: 2 });
    const names = await Promise.all([migrateDown(database), migrateDown(await openDatabase(url))]);
    expect(names.flat()).toEqual([last]);
    expect(await database.knex.schema.hasTable('pets')).toBe(true);
  });
});
