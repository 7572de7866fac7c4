import { expect, test } from 'vitest';
import { inTransaction } from '../../src/gateway/database/connect.ts';
import { DatabaseFault } from '../../src/gateway/errors.ts';
import { createStores } from '../../src/gateway/store/store.ts';
import { defineTable, intoOf } from '../../src/gateway/store/table.ts';
import { checkWrites } from '../../src/gateway/store/write-check.ts';
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
});
