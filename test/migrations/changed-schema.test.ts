import { expect, test } from 'vitest';
import { isRefused } from '../../src/gateway/database/faults.ts';
import { checkWrites } from '../../src/gateway/store/write-check.ts';
import { PETS } from '../../src/petstore/pets/pet.ts';
import { SCHEMA_CHANGES } from '../faults/schema-changes.ts';
import { describeEachEngine } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { prepareDatabase } from '../support/prepared.ts';

describeEachEngine('a schema that was changed by hand', (engine) => {
  const changes = SCHEMA_CHANGES[engine.name].filter(({ said }) => said !== undefined);
  test.each(changes)('$what: $said', async ({ statements, said: expected }) => {
    const { database } = await prepareDatabase(engine);
    expect(await checkWrites(database, [PETS])).toBe(undefined);
    for (const statement of statements) await database.knex.raw(statement);
    const kept = await checkWrites(database, [PETS], { ids: 'of ours' }).catch(() => undefined);
    const said = await checkWrites(database, [PETS]).catch((error) =>
      isRefused(error) ? 'some' : String(error.cause),
    );
    expect(String(kept ?? said)).toContain(expected);
    expect(await database.knex('pets').select()).toEqual([]);
  });

  test.runIf(engine.name === 'mysql')(
    'of a server that tells the id of a single row only, nothing is said',
    async () => {
      const { database } = await prepareDatabase(engine);
      const { client } = database.knex; // Knex types it as any
      const session = await client.acquireConnection(); // lent again next: the last one that came back
      session.idRule = undefined; // as on XtraDB Cluster
      await client.releaseConnection(session);
      expect(await checkWrites(database, [PETS])).toBe(undefined);
    },
  );

  test.runIf(engine.name === 'mysql')(
    'that makes a write take too long is no refusal: a start says nothing',
    async () => {
      const { database, url } = await prepareDatabase(engine);
      await database.knex.raw('CREATE TRIGGER wait BEFORE INSERT ON pets FOR EACH ROW SET @slept = SLEEP(4)');
      const { logs } = await startGateway(engine, { DATABASE_URL: url });
      expect(logs.filter(({ msg }) => String(msg).includes('refuses writes'))).toEqual([]);
    },
  );

  test('ends a start when it changes what is written, and is told when it refuses', async () => {
    const { database, url } = await prepareDatabase(engine);
    const isMysql = engine.name === 'mysql';
    const trim = isMysql
      ? 'BEFORE INSERT ON pets FOR EACH ROW SET NEW.name = TRIM(NEW.name)'
      : 'AFTER INSERT ON pets BEGIN UPDATE pets SET name = TRIM(name) WHERE id = NEW.id; END';
    await database.knex.raw(`CREATE TRIGGER trim ${trim}`);
    await expect(startGateway(engine, { DATABASE_URL: url })).rejects.toThrow('changes what is written: pets.name');
    await database.knex.raw('DROP TRIGGER trim');
    await database.knex.raw(`CREATE UNIQUE INDEX one_name ON pets (${isMysql ? 'name(50)' : 'name'})`);
    const gateway = await startGateway(engine, { DATABASE_URL: url });
    expect(gateway.logs.filter(({ msg }) => String(msg).includes('refuses writes'))).toHaveLength(1);
    const { json } = await gateway.createPet({ name: 'Rex', categoryId: 1 });
    expect(json.id, 'no id was used up').toBe(1);
  });
});
