import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ANSWER_MS, LOCK_MS } from '../../src/gateway/deadlines.ts';
import { createStores } from '../../src/gateway/store/store.ts';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { PETS } from '../../src/petstore/pets/pet.ts';
import { describeEachEngine, describeOnMysql, SQLITE } from '../support/engines.ts';
import { openDatabase, prepareDatabase } from '../support/prepared.ts';

describeOnMysql('a late write', (engine) => {
  test('a transaction whose COMMIT comes too late is undone, and its connection is nobody else’s', async () => {
    const { knex, run } = await openDatabase(await engine.freshDatabase());
    await knex.schema.createTable('late', (table) => void table.increments('id'));
    const add = () =>
      knex.transaction(async (transaction) => {
        await transaction('late').insert({});
        await delay(600);
      });
    await expect(run(add, { deadline: deadlineIn(LOCK_MS + ANSWER_MS + 500) })).rejects.toMatchObject({
      meaning: 'unavailable',
    });
    const counts = await Promise.all(Array.from({ length: 5 }, () => knex('late').count({ rows: '*' })));
    expect(counts.flat().map(({ rows }) => Number(rows))).toEqual([0, 0, 0, 0, 0]);
  });

  test('a row with less time than a wait for a lock may take is neither changed nor removed', async () => {
    const { knex, run } = await openDatabase(await engine.freshDatabase());
    await knex.raw("CREATE TABLE late SELECT 1 AS id, 'Rex' AS name");
    const works = [
      () => knex('late').update({ name: 'Tom' }),
      () => knex('late').delete(),
      () => knex.raw("UPDATE late SET name = 'Tom'"),
    ];
    for (const work of works) {
      const late = run(work, { deadline: deadlineIn(LOCK_MS + ANSWER_MS - 100) });
      await expect(late).rejects.toMatchObject({ meaning: 'unavailable', cause: { code: 'POOL_TIMEOUT' } });
    }
    expect(await knex('late')).toEqual([{ id: 1, name: 'Rex' }]);
  });
});

describeEachEngine('a late write', (engine) => {
  test('rows with less time than a wait for a lock may take are not added', async () => {
    const { knex, insert } = await openDatabase(await engine.freshDatabase());
    await knex.schema.createTable('late', (table) => {
      table.increments('id');
      table.text('name');
    });
    const late = insert({ table: 'late', columns: ['name'] }, [['Rex']], deadlineIn(LOCK_MS + ANSWER_MS - 100));
    await expect(late).rejects.toMatchObject({ meaning: 'unavailable', cause: { code: 'POOL_TIMEOUT' } });
    expect(await knex('late')).toEqual([]);
  });
});

test('sqlite › a late write › a create with an Idempotency-Key whose lock comes free after its 503 does not come later', async () => {
  const { url, database } = await prepareDatabase(SQLITE);
  const pets = createStores(database)(PETS);
  using other = new DatabaseSync(url.slice('sqlite:'.length));
  other.exec('BEGIN IMMEDIATE');
  const once = { ownerId: '1', idempotencyKey: 'late', position: 1 };
  const pet = { name: 'Rex', categoryId: '1' as Int64, status: null };
  const late = pets.add(pet, once, deadlineIn(2 * ANSWER_MS + 200));
  await expect(late).rejects.toMatchObject({ meaning: 'unavailable', cause: { code: 'POOL_TIMEOUT' } });
  other.exec('ROLLBACK');
  expect(await database.knex('pets')).toEqual([]); // on the connection that waited for the lock, so behind that
  await pets.add(pet, once, deadlineIn(60_000));
  expect(await database.knex('pets')).toHaveLength(1);
});
