import mysql from 'mysql2/promise';
import { expect, onTestFinished, test } from 'vitest';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import type { Answer } from '../support/client.ts';
import { describeEachEngine, describeOnMysql } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';
import { watchStatements } from '../support/statements.ts';
import { type CheckedGateway, expectRefusal, startCheckedGateway, useGateway } from './checked-gateway.ts';

const PET = '{"name":"Rex","categoryId":1,"status":"sold"}';
const KEY = 'a-key';

describeEachEngine('Idempotency-Key › several processes', (engine) => {
  test('another gateway, and one after a restart, give the first answer', async () => {
    const databaseUrl = await engine.freshDatabase();
    const one = await startCheckedGateway(engine, { DATABASE_URL: databaseUrl });
    const two = await startCheckedGateway(engine, { DATABASE_URL: databaseUrl });
    const first = await one.post(PET, { 'idempotency-key': KEY });
    // An Idempotency-Key belongs to an API key: the same one must come to both.
    const retry = (to: CheckedGateway) =>
      to.call('POST', '/v1/pets', {
        key: one.key,
        headers: { 'content-type': 'application/json', 'idempotency-key': KEY },
        body: PET,
      });
    expect((await retry(two)).text).toBe(first.text);
    await one.close();
    await two.close();
    const three = await startCheckedGateway(engine, { DATABASE_URL: databaseUrl });
    const again = await retry(three);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await three.storedIds()).toHaveLength(1);
  });
});

describeOnMysql('Idempotency-Key › 409', (engine) => {
  /** A gateway, what adds an animal under a key, and a connection of another process, which ends with the test. */
  const startAdding = async () => {
    const databaseUrl = await engine.freshDatabase();
    const { pets, database } = await startGateway(engine, { DATABASE_URL: databaseUrl, LOG_LEVEL: 'silent' });
    const add = (idempotencyKey: string) => {
      const scopedKey = { ownerId: 'k', idempotencyKey, position: 1 };
      return pets.add({ name: 'Rex', categoryId: '1' as Int64, status: null }, scopedKey, deadlineIn(20_000));
    };
    const other = await mysql.createConnection(databaseUrl);
    onTestFinished(() => other.end());
    return { other, database, add };
  };

  test('is told while another process writes the record, and not of the space around it', async () => {
    const { other, database, add } = await startAdding();
    await add('written');
    const inTransaction = async (statements: readonly string[], work: () => Promise<unknown>) => {
      await other.query('START TRANSACTION');
      for (const statement of statements) await other.query(statement);
      await work();
      await other.query('ROLLBACK');
    };
    // As an export does, or a backup by statements: all there is, and all that could come between.
    await inTransaction(['SELECT * FROM idempotency_keys FOR UPDATE'], async () => {
      await expect(add('new')).rejects.toMatchObject({ meaning: 'unavailable' });
      expect(await add('written')).toMatchObject({ replayed: true });
    });
    await database.knex.raw('CREATE TABLE copies AS SELECT * FROM idempotency_keys');
    await database.knex('idempotency_keys').delete();
    await inTransaction(['INSERT INTO idempotency_keys SELECT * FROM copies'], async () => {
      const inserts: string[] = [];
      watchStatements(database, (sql) => inserts.push(...(/^INSERT INTO idempotency_keys/i.exec(sql) ?? [])));
      await expect(add('written')).rejects.toMatchObject({ code: 'idempotency_conflict' });
      expect(inserts).toHaveLength(1); // a second wait for the lock could be longer than a request
    });
    expect(await add('new')).toMatchObject({ replayed: false });
  });

  test('is told of a held key only, and those that share its statement are done', async () => {
    const { other, database, add } = await startAdding();
    const keys = Array.from({ length: 16 }, (_, index) => `key ${index}`);
    const held = ['expired', 'unwritten'];
    await Promise.all(held.map(add));
    await database.knex.raw('CREATE TABLE copies AS SELECT * FROM idempotency_keys');
    const [unwritten, expired] = await database.knex('idempotency_keys').pluck('id');
    await database.knex('idempotency_keys').where({ id: unwritten }).delete();
    await database.knex('idempotency_keys').where({ id: expired }).update({ created_at: 0 });
    await other.query('START TRANSACTION');
    await other.query('INSERT INTO idempotency_keys SELECT * FROM copies WHERE id = ?', [unwritten]);
    await other.query('UPDATE idempotency_keys SET created_at = 1 WHERE id = ?', [expired]);
    let inserts = 0;
    watchStatements(database, (sql) => {
      if (sql.startsWith('INSERT INTO idempotency_keys')) inserts++;
    });
    const answers = await Promise.allSettled([...held, ...keys].map(add));
    const codes = answers.map((answer) => (answer.status === 'rejected' ? answer.reason.code : 'added'));
    // They are done together again: alone, the last of them would have too little time left.
    expect(inserts).toBeLessThan(keys.length);
    expect(codes).toEqual([...held.map(() => 'idempotency_conflict'), ...keys.map(() => 'added')]);
    await other.query('COMMIT');
    expect(await database.knex('pets').select('id')).toHaveLength(held.length + keys.length);
  });
});

describeEachEngine('Idempotency-Key › 409', (engine) => {
  const gateway = useGateway(engine);

  test('while the first request is at work, another is refused; then it gets the first answer', async () => {
    let attempts = 0;
    const race = async () => {
      const before = (await gateway.storedIds()).length; // a create of an earlier race may be done, though it was told 503
      const headers = { 'idempotency-key': `${KEY}-${++attempts}` };
      const { knex } = gateway.database;
      const blocked = await knex.transaction(); // SQLite has one writer
      await blocked('pets').select('id').forUpdate(); // MySQL: no row can be added
      const both = [gateway.post(PET, headers), gateway.post(PET, headers)]; // whichever arrives first
      await Promise.race(both);
      await blocked.rollback();
      const answers = await Promise.all(both);
      // A create waits two seconds for the lock, which does not do on a machine that is held up.
      return answers.every(({ status }) => status !== 503) && { headers, answers, before };
    };
    const { headers, answers, before } = await eventually(race, 60_000, 'the first request is done');
    const [first, refused] = answers.toSorted((one, other) => one.status - other.status) as [Answer, Answer]; // both
    expectRefusal(refused, 409, /still at work/);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect([first.status, (await gateway.post(PET, headers)).text]).toEqual([201, first.text]);
    expect(await gateway.storedIds()).toHaveLength(before + 1);
  });
});
