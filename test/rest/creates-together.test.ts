import { setTimeout as delay } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { expect, test } from 'vitest';
import { ID_LOCK_MS } from '../../src/gateway/deadlines.ts';
import { createRowAdder } from '../../src/gateway/store/row-adder.ts';
import { createStores } from '../../src/gateway/store/store.ts';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { PETS } from '../../src/petstore/pets/pet.ts';
import { countPetStatements } from '../graphql/statements.ts';
import { APIS } from '../parity/apis.ts';
import { describeEachEngine } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { watchStatements } from '../support/statements.ts';

describeEachEngine('creates that arrive together', (engine) => {
  test('each is answered its own animal, whichever statement brought it', async () => {
    const gateway = await startGateway(engine, { LOG_LEVEL: 'silent' });
    const statements = countPetStatements(gateway);
    const newPets = Array.from({ length: 100 }, (_, index) => ({
      name: `animal ${index}`,
      categoryId: String(2n ** 62n + BigInt(index)) as Int64,
      status: index % 2 === 0 ? ('sold' as const) : null,
    }));
    const answers = await Promise.all(newPets.map((newPet) => gateway.pets.add(newPet, null, deadlineIn(5000))));
    expect(statements()).toBeLessThan(newPets.length / 5);
    expect(new Set(answers.map(({ row }) => row.id)).size).toBe(newPets.length);
    for (const [index, { row: pet }] of answers.entries()) {
      expect(pet).toMatchObject({ ...newPets[index], id: pet.id });
      expect({ told: [pet] }).toMatchObject({ told: await APIS.rest.get(gateway, String(pet.id)) });
    }
  });

  test('one that comes alone is one statement, the first one too', async () => {
    const { database, pets } = await startGateway(engine, { LOG_LEVEL: 'silent' });
    const sent: string[] = [];
    watchStatements(database, (sql) => sent.push(sql));
    await pets.add({ name: 'alone', categoryId: '1' as Int64, status: null }, null, deadlineIn(5000));
    expect(sent).toEqual([expect.stringMatching(/^pets \(/)]);
  });

  test.runIf(engine.name === 'mysql')('each has a statement where only the id of a single row is known', async () => {
    const { database, pets } = await startGateway(engine, { LOG_LEVEL: 'silent', DATABASE_POOL_MAX: '1' });
    const { client } = database.knex; // Knex types it as any
    const session = await client.acquireConnection();
    session.idRule = undefined; // as on XtraDB Cluster
    await client.releaseConnection(session);
    const names = Array.from({ length: 5 }, (_, index) => `animal ${index}`);
    const add = (name: string, idempotencyKey?: string) => {
      const once = idempotencyKey === undefined ? null : { ownerId: '1', idempotencyKey, position: 1 };
      return pets.add({ name, categoryId: '1' as Int64, status: null }, once, deadlineIn(60_000));
    };
    const answers = await Promise.all(names.flatMap((name) => [add(name), add(name, name)]));
    const rows = await database.knex('pets').select('id', 'name').orderBy('id');
    const byId = new Map(rows.map(({ id, name }) => [String(id), name]));
    expect(byId.size).toBe(answers.length);
    for (const { row } of answers) expect(byId.get(String(row.id))).toBe(row.name);
    // That is known by now: no transaction is begun in vain.
    const sent: string[] = [];
    watchStatements(database, (sql) => sent.push(sql));
    await Promise.all(names.map((name) => add(name)));
    expect(sent).toEqual(Array(6).fill(expect.stringMatching(/^pets \(/)));
  });

  test.runIf(engine.name === 'mysql').each([
    ['without a key', false, 2],
    ['with a key each, of which two transactions may be in flight', true, 3],
  ])('those that come during a slow commit share the next one: %s', async (_what, hasKey, most) => {
    const { database, url } = await prepareDatabase(engine);
    // As near as it is, whatever the machine has to do beside it.
    const pets = createStores({ ...database, roundTripMs: () => 0.2 })(PETS);
    let batches = 0;
    watchStatements(database, (sql) => {
      if (/^(?:pets \(|INSERT INTO idempotency_keys )/.test(sql)) batches++;
    });
    const countBatches = async () => {
      batches = 0;
      const other = await mysql.createConnection(url);
      await other.query('LOCK TABLES pets READ'); // reads go on, the first commit does not
      const startedAt = performance.now();
      const answers: Promise<unknown>[] = [];
      for (let number = 0; number < 12; number++) {
        const idempotencyKey = `${startedAt} ${number}`;
        const once = hasKey ? { ownerId: '1', idempotencyKey, position: 1 } : null;
        const pet = { name: `animal ${number}`, categoryId: '1' as Int64, status: null };
        answers.push(pets.add(pet, once, deadlineIn(60_000)));
        await delay(20);
      }
      await other.end();
      await Promise.allSettled(answers);
      const wasHeldUp = performance.now() - startedAt > ID_LOCK_MS; // then others do not wait for the slow commit
      return !wasHeldUp && batches;
    };
    expect(await eventually(countBatches, 60_000, 'a round that was not held up')).toBeLessThanOrEqual(most);
  });

  test('none is added by a transaction that was not begun, or is over', async () => {
    const gateway = await startGateway(engine, { LOG_LEVEL: 'silent' });
    const adder = createRowAdder(gateway.database, PETS);
    const transaction = await gateway.database.knex.transaction();
    await transaction.rollback();
    const late = adder.addWithin(transaction, [{ name: 'late', categoryId: '1' as Int64, status: null }]);
    await expect(late).rejects.toThrow('not begun, or is over');
    expect(await gateway.database.knex('pets').select('id')).toEqual([]);
  });
});
