import { expect, test } from 'vitest';
import { schemaProblems } from '../../src/gateway/database/schema-check.ts';
import { describeEachEngine } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { readRowAdder } from './whole-schema.ts';

describeEachEngine('the whole schema', (engine) => {
  test('is what the migrations make; each table, column and index that is missing has a line', async () => {
    await prepareDatabase(engine); // another database of the server, which lacks nothing
    const { database, url } = await prepareDatabase(engine);
    const { knex } = database;
    expect(await schemaProblems(database)).toEqual([]);
    await knex.schema.dropTable('deprecated_use');
    await knex.schema.alterTable('api_keys', (table) => table.dropColumn('read_only'));
    await knex.schema.alterTable('pets', (table) => table.dropIndex([], 'pets_status_id'));
    await knex.schema.createTable('of_a_newer_version', (table) => table.increments());
    expect((await schemaProblems(database)).sort()).toEqual([
      'api_keys: column read_only is missing',
      'pets: index pets_status_id (status, id) is missing',
      'table deprecated_use is missing',
    ]);
    for (const MIGRATE_ON_START of ['true', 'false']) {
      const start = startGateway(engine, { DATABASE_URL: url, MIGRATE_ON_START, LOG_LEVEL: 'silent' });
      await expect(start).rejects.toThrow('the schema is not as the migrations make it: ');
    }
  });

  test.each([
    ['api_keys', { id: undefined }],
    ['idempotency_keys', {}],
    ['deprecated_use', {}],
  ])('%s takes no second row of the same key', async (table, own) => {
    const { database } = await prepareDatabase(engine);
    await (await readRowAdder(database))();
    const { id, ...row } = { ...(await database.knex(table).first()), ...own };
    const again = database.knex(table).insert(id === undefined ? row : { id, ...row });
    await expect(again).rejects.toThrow(/UNIQUE constraint failed|Duplicate entry/);
  });
});
