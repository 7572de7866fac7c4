import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type { Knex } from 'knex';
import mysql from 'mysql2/promise';
import { afterEach, expect, test, vi } from 'vitest';
import type { Database } from '../../src/gateway/database/connect.ts';
import { ANSWER_MS, LOCK_MS, REQUEST_MS, ROLE_MAX_AGE_MS } from '../../src/gateway/deadlines.ts';
import { createStores } from '../../src/gateway/store/store.ts';
import { intoOf } from '../../src/gateway/store/table.ts';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { PETS } from '../../src/petstore/pets/pet.ts';
import { describeOnMysql, type TestEngine } from '../support/engines.ts';
import { eventually, succeeds } from '../support/load.ts';
import { openDatabase, prepareDatabase } from '../support/prepared.ts';
import { msSince } from '../support/stall-clock.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const ANSWERED_WITHIN_MS = 5500;
const HEALED_WITHIN_MS = 2000;
const LIST = 'SELECT id FROM pets WHERE id > ? ORDER BY id LIMIT ?';

/** A migrated database, opened by way of a proxy. */
async function openBehindProxy(engine: TestEngine) {
  const { url, countNames } = await prepareDatabase(engine);
  const proxy = await startTcpProxy(url);
  return { proxy, database: await openDatabase(proxy.url), countNames };
}

/** How long `work` took in ms, by the stall clock, and what became of it. */
async function timed<T>(work: Promise<T>): Promise<{ ms: number; value?: T; meaning?: string }> {
  const startedAt = performance.now();
  const settled = await work.then(
    (value) => ({ value }),
    (error) => ({ meaning: error.meaning ?? String(error) }),
  );
  return { ...settled, ms: msSince(startedAt) };
}

function expectUnavailable({ ms, meaning }: { ms: number; meaning?: string }, withinMs = ANSWERED_WITHIN_MS): void {
  expect(meaning).toBe('unavailable');
  expect(ms).toBeLessThan(withinMs);
}

const isUp = (database: Database) => succeeds(database.query(LIST, [0, 1], undefined));

afterEach(() => {
  vi.restoreAllMocks();
});

describeOnMysql('the way to the database', (engine) => {
  test('a PREPARE that is never answered: 503 in time, and lists go on', async () => {
    const { proxy, database } = await openBehindProxy(engine);
    await database.query(LIST, [0, 1], undefined);
    proxy.swallowAnswersTo(/FORCE INDEX/);
    const filtered = 'SELECT id FROM pets FORCE INDEX (pets_status_id) WHERE status = ? AND id > ? ORDER BY id LIMIT ?';
    const stuck = Array.from({ length: 4 }, () => timed(database.query(filtered, ['sold', 0, 1], undefined)));
    const others = await Promise.all(Array.from({ length: 20 }, () => timed(database.query(LIST, [0, 1], undefined))));
    expect(others.filter(({ meaning }) => meaning !== undefined)).toEqual([]);
    for (const one of await Promise.all(stuck)) expectUnavailable(one);
    proxy.swallowAnswersTo(undefined);
    expect(await database.query(filtered, ['sold', 0, 1], undefined)).toEqual([]);
  });

  test('open connections are lost in silence: new ones are used soon, whatever the size of the pool', async () => {
    const { proxy, database } = await openBehindProxy(engine);
    await Promise.all(Array.from({ length: 10 }, () => database.query('SELECT SLEEP(0.1)', [], undefined)));
    await eventually(() => database.poolState().free === 10, 5000, 'all are free');
    proxy.loseOpenOnes();
    const inFlight = Array.from({ length: 6 }, () => timed(database.query(LIST, [0, 1], undefined)));
    await delay(ROLE_MAX_AGE_MS); // from then on a connection is asked first whether its server is there
    await eventually(() => isUp(database), HEALED_WITHIN_MS, 'it heals');
    for (const { ms } of await Promise.all(inFlight)) expect(ms).toBeLessThan(ANSWERED_WITHIN_MS);
  });

  test('a transaction on a slow way has its answer or 503 in time, and is whole or not there', async () => {
    const { proxy, database, countNames } = await openBehindProxy(engine);
    await database.ping();
    proxy.delayAnswers(1300);
    const insertTwo = async (trx: Knex) => {
      await trx('pets').insert({ name: 'first', category_id: 1 });
      await trx('pets').insert({ name: 'second', category_id: 1 });
    };
    expectUnavailable(await timed(database.run((knex) => knex.transaction(insertTwo), { idempotent: true })));
    proxy.delayAnswers(0);
    expect((await countNames()).size).toBe(0);
  });

  test('an account that may have fewer connections than the pool: everybody is served', async () => {
    const { url } = await prepareDatabase(engine);
    const root = await mysql.createConnection(url);
    const user = `limited_${process.pid}`;
    await root.query(`CREATE USER '${user}'@'%' WITH MAX_USER_CONNECTIONS 3`);
    await root.query(`GRANT ALL ON *.* TO '${user}'@'%'`);
    const limited = new URL(url);
    limited.username = user;
    const database = await openDatabase(limited.href);
    const results = await Promise.all(
      Array.from({ length: 60 }, () => timed(database.query('SELECT SLEEP(0.02)', [], undefined))),
    );
    expect(results.filter(({ meaning }) => meaning !== undefined)).toEqual([]);
    await database.close();
    await root.query(`DROP USER '${user}'@'%'`);
    await root.end();
  });

  test('an unreachable server is told at once, however many ask', async () => {
    const { proxy, database } = await openBehindProxy(engine);
    await database.ping();
    proxy.move(1);
    proxy.cut();
    const results = await Promise.all(Array.from({ length: 50 }, () => timed(database.query(LIST, [0, 1], undefined))));
    for (const one of results) expectUnavailable(one, 1000);
  });

  test('a create that waits for a table is refused, and does not come later', async () => {
    const { url } = await prepareDatabase(engine);
    const database = await openDatabase(url);
    await database.ping();
    const holder = await mysql.createConnection(url);
    await holder.query('LOCK TABLES pets WRITE');
    const rows = [['late', 1n, null]];
    const creates = await Promise.all(
      Array.from({ length: 20 }, () => timed(database.insert(intoOf(PETS), rows, undefined))),
    );
    for (const one of creates) expectUnavailable(one);
    await holder.query('UNLOCK TABLES');
    await holder.query('DO SLEEP(0.3)');
    expect(await database.query('SELECT name FROM pets', [], undefined)).toEqual([]);
    await holder.end();
  });

  test('a create that shared its wait with a younger one is refused at its own deadline, and does not come later', async () => {
    const { url, countNames } = await prepareDatabase(engine);
    const database = await openDatabase(url, { DATABASE_POOL_MAX: '1' });
    await database.ping();
    const holder = await mysql.createConnection(url);
    await holder.query('LOCK TABLES pets WRITE');
    const before = database.query('SELECT SLEEP(0.3)', [], undefined);
    const pets = createStores(database)(PETS);
    const add = (name: string, ms: number) =>
      timed(pets.add({ name, categoryId: '1' as Int64, status: null }, null, deadlineIn(ms)));
    const first = add('first', LOCK_MS + ANSWER_MS); // it waits for the connection, and the others for it
    await turn();
    const [older, younger] = [add('older', 800), add('younger', REQUEST_MS)];
    expectUnavailable(await first);
    expectUnavailable(await older);
    await holder.query('UNLOCK TABLES');
    expect((await younger).meaning).toBeUndefined();
    await before;
    expect([...(await countNames()).keys()]).toEqual(['younger']);
    await holder.end();
  });

  test.each([
    ['comes twice', (bytes: Buffer) => Buffer.concat([bytes, bytes])],
    ['is a bare OK', () => Buffer.from([7, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0])],
    ['is another one', (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 3), Buffer.from([7]), bytes.subarray(4)])],
  ])('an answer that %s is no answer: it is never taken for that of another question', async (_what, change) => {
    const { proxy, database } = await openBehindProxy(engine);
    const [first] = await database.insert(intoOf(PETS), [['Rex', 1n, null]], undefined);
    expect(await database.query('SELECT name FROM pets', [], undefined)).toEqual([{ name: 'Rex' }]);
    vi.spyOn(console, 'error').mockImplementation(() => {}); // mysql2 tells it there, too
    proxy.changeAnswers(change);
    const questions = Array.from({ length: 20 }, (_, index) =>
      timed(database.query(`SELECT ${index} AS one`, [], undefined)),
    );
    const create = timed(database.insert(intoOf(PETS), [['Leo', 1n, null]], undefined));
    for (const [index, { value, meaning }] of (await Promise.all(questions)).entries()) {
      if (meaning === undefined) expect(value).toEqual([{ one: index }]);
      else expect(meaning).toBe('unavailable');
    }
    const { value: ids, meaning } = await create;
    if (meaning === undefined) expect(ids).not.toEqual([first]);
    else expect(meaning).toBe('unavailable');
    proxy.changeAnswers(undefined);
    await eventually(() => isUp(database), HEALED_WITHIN_MS, 'it heals');
  });
});
