import type { Knex } from 'knex';
import { expect, test } from 'vitest';
import { inTransaction } from '../../src/gateway/database/connect.ts';
import { isRefused } from '../../src/gateway/database/faults.ts';
import { DatabaseFault } from '../../src/gateway/errors.ts';
import { createStores } from '../../src/gateway/store/store.ts';
import { defineTable, intoOf } from '../../src/gateway/store/table.ts';
import { checkWrites } from '../../src/gateway/store/write-check.ts';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { PETS } from '../../src/petstore/pets/pet.ts';
import { describeEachEngine } from '../support/engines.ts';
import { prepareDatabase } from '../support/prepared.ts';

const EXACT = { mysql: 'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin', sqlite: '' };

describeEachEngine('a transaction', (engine) => {
  test.each([
    ['is done as a whole', undefined, 3],
    ['leaves nothing when it fails', new Error('on purpose'), 0],
  ])('%s: what it inserts and what it runs', async (_what, failure, count) => {
    const { database } = await prepareDatabase(engine);
    const countPets = async () => (await database.knex('pets').select('id')).length;
    const done = inTransaction(database, async (within) => {
      await createStores(within)(PETS).addAll(['Rex', 'Ada'].map((name) => ({ name, categoryId: '1' as Int64 })));
      await within.run((knex) => knex('pets').insert({ name: 'Kim', category_id: 3 }));
      if (failure) throw failure;
    });
    if (failure) await expect(done).rejects.toBe(failure);
    else await done;
    expect(await countPets()).toBe(count);
  });

  test('refuses a query and an insert that would not be part of it', async () => {
    const { database } = await prepareDatabase(engine);
    await inTransaction(database, async ({ query, insert }) => {
      await expect(query('SELECT 1', [], undefined)).rejects.toThrow('a connection of its own');
      const adding = insert(intoOf(PETS), [['Rex', 1n, null]], undefined);
      await expect(adding).rejects.toThrow('a connection of its own');
    });
  });

  test('of rows that are taken back, which tells whether writes are taken, leaves nothing', async () => {
    const { database } = await prepareDatabase(engine);
    await checkWrites(database, [PETS]);
    // SQLite notes the last id of a table.
    const noted = engine.name === 'mysql' ? [] : await database.knex('sqlite_sequence').where({ name: 'pets' });
    expect(noted).toEqual([]);
  });

  test.each([
    ['of two characters', 2, 2, false],
    ['of five characters', 5, 5, false],
    ['of forty characters', 40, 40, false],
    ['of any length', 40, undefined, true],
  ])('of such rows is refused where a text %s does not fit its column', async (_what, length, maxLength, isTooLong) => {
    const { database } = await prepareDatabase(engine);
    const id = engine.name === 'mysql' ? 'bigint AUTO_INCREMENT PRIMARY KEY' : 'integer PRIMARY KEY AUTOINCREMENT';
    await database.run((knex) =>
      knex.raw(`CREATE TABLE labels (id ${id}, label varchar(${length})) ${EXACT[engine.name]}`),
    );
    const LABELS = defineTable('labels', { label: { kind: 'text', ...(maxLength && { maxLength }), optional: true } });
    const checked = checkWrites(database, [LABELS], { ids: 'of ours' });
    // SQLite keeps a text of any length, whatever its column says: https://www.sqlite.org/datatype3.html
    if (isTooLong && engine.name === 'mysql') await expect(checked).rejects.toThrow(DatabaseFault);
    else expect(await checked).toBeUndefined();
  });

  test('of such rows is tried on each table', async () => {
    const { database } = await prepareDatabase(engine);
    const ORDERS = defineTable('orders', { petId: { kind: 'int64' } });
    await expect(checkWrites(database, [PETS, ORDERS])).rejects.toThrow(DatabaseFault); // there is no such table
  });

  // Of SQLite alone: a statement that comes after such a refusal would be committed by itself.
  test.runIf(engine.name === 'sqlite').each(['of the server', 'of ours'] as const)(
    'of such rows, with ids %s, leaves nothing where a trigger rolls the whole transaction back',
    async (ids) => {
      const { database } = await prepareDatabase(engine);
      const refuse = "SELECT RAISE(ROLLBACK, 'no null') WHERE NEW.status IS NULL";
      await database.knex.raw(`CREATE TRIGGER strict BEFORE INSERT ON pets BEGIN ${refuse}; END`);
      const refused = await checkWrites(database, [PETS], { ids }).catch((error) => error);
      expect([isRefused(refused), await database.knex('pets')]).toEqual([true, []]);
    },
  );

  test.runIf(engine.name === 'sqlite')('within another tells why it was rolled back', async () => {
    const { database } = await prepareDatabase(engine);
    const refuse = "SELECT RAISE(ROLLBACK, 'no null')";
    await database.knex.raw(`CREATE TRIGGER strict BEFORE INSERT ON pets BEGIN ${refuse}; END`);
    const add = (knex: Knex) => knex('pets').insert({ name: 'Tom', category_id: 1 });
    const nested = database.knex.transaction((outer) => outer.transaction(add));
    await expect(nested).rejects.toThrow(/no null$/);
  });

  test.runIf(engine.name === 'sqlite')('of several creates loses only those that such a trigger refuses', async () => {
    const { database } = await prepareDatabase(engine);
    const refuse = "SELECT RAISE(ROLLBACK, 'no null') WHERE NEW.status IS NULL";
    await database.knex.raw(`CREATE TRIGGER strict BEFORE INSERT ON pets BEGIN ${refuse}; END`);
    const { add } = createStores(database)(PETS);
    const creates = Array.from({ length: 8 }, (_, index) => {
      const pet = {
        name: `animal ${index}`,
        categoryId: '1' as Int64,
        status: index % 2 === 0 ? null : 'sold',
      } as const;
      const once = { ownerId: 'k', idempotencyKey: `key ${index}`, position: 1 };
      return add(pet, index < 4 ? once : null, deadlineIn(20_000));
    });
    const outcomes = (await Promise.allSettled(creates)).map(({ status }) => status === 'fulfilled');
    expect(outcomes).toEqual(creates.map((_, index) => index % 2 === 1));
    const stored = await database.knex('pets').pluck('name');
    expect(stored.sort()).toEqual(['animal 1', 'animal 3', 'animal 5', 'animal 7']);
  });
});
