import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ANSWER_MS, LOCK_MS } from '../../src/gateway/deadlines.ts';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';
import { describeEachEngine, describeOnMysql } from '../support/engines.ts';
import { openDatabase } from '../support/prepared.ts';

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
