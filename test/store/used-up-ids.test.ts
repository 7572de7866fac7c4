import { expect, test } from 'vitest';
import { describeEachEngine, describeOnMysql } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';

const PET = { name: 'Rex', categoryId: 1 };
const LAST_ID = '9223372036854775807';

describeOnMysql('an id that a trigger gives twice', (engine) => {
  test('is 503, and the log says what was seen', async () => {
    const gateway = await startGateway(engine);
    await gateway.database.knex.raw('CREATE TRIGGER same BEFORE INSERT ON pets FOR EACH ROW SET NEW.id = 7');
    expect((await gateway.createPet(PET)).status).toBe(201);
    expect((await gateway.createPet(PET)).status).toBe(503);
    expect(JSON.stringify(gateway.logs)).toMatch(/got an id that another row has: from a trigger, or/);
  });
});

describeEachEngine('the last id that there is', (engine) => {
  test('creates are 503 and the log says why, with an Idempotency-Key too, which is free again afterwards', async () => {
    const gateway = await startGateway(engine);
    const { knex } = gateway.database;
    await knex.raw(`INSERT INTO pets (id, name, category_id) VALUES (${LAST_ID}, 'last', 1)`);
    const headers = { 'idempotency-key': 'a-key' };
    for (const given of [headers, headers, {}]) {
      const answer = await gateway.createPet(PET, given);
      expect([answer.status, answer.json.code]).toEqual([503, 'service_unavailable']);
    }
    const why = engine.name === 'mysql' ? /the table pets .*are used up/ : /database or disk is full/;
    const told = gateway.logs.filter((line) => why.test(JSON.stringify(line)));
    expect(told).toHaveLength(3);
    await knex('pets').delete();
    await knex.raw(
      engine.name === 'mysql'
        ? 'ALTER TABLE pets AUTO_INCREMENT = 1'
        : "DELETE FROM sqlite_sequence WHERE name = 'pets'",
    );
    expect((await gateway.createPet(PET, headers)).status).toBe(201);
  });
});
