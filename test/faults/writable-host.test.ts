import { setTimeout as delay } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/gateway/database/connect.ts';
import { migrateUp } from '../../src/gateway/database/migrations.ts';
import { CONNECT_MS } from '../../src/gateway/deadlines.ts';
import { createStores } from '../../src/gateway/store/store.ts';
import { intoOf } from '../../src/gateway/store/table.ts';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { PETS } from '../../src/petstore/pets/pet.ts';
import { afterFile } from '../support/engines.ts';
import { eventually, succeeds } from '../support/load.ts';
import { type MysqlServer, startMysqlServer } from '../support/mysql-server.ts';
import { openDatabase } from '../support/prepared.ts';
import { startSilent } from '../support/served-app.ts';
import { RETRY_NOT_WITHIN } from '../support/stall-clock.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { has } from '../support/tools.ts';
import { freshDatabase } from './server-faults.ts';

const HEALED_WITHIN_MS = 2000;

// Two servers that know nothing of each other stand for a primary and its replica: what one has the other lacks.
describe.runIf(has('database'))('the server that takes writes', () => {
  let a: MysqlServer;
  let b: MysqlServer;

  const setReadOnly = async ({ url }: MysqlServer, on: 0 | 1) => {
    const root = await mysql.createConnection(url);
    await root.query(`SET GLOBAL read_only = ${on}`);
    await root.end();
  };
  const both = async (): Promise<string> => {
    for (const server of [a, b]) {
      await setReadOnly(server, 0);
      await migrateUp(await openDatabase(await freshDatabase(server)));
    }
    return `mysql://app@127.0.0.1:${a.port},127.0.0.1:${b.port}/petstore`;
  };
  const openLone = ({ port }: MysqlServer) => openDatabase(`mysql://app@127.0.0.1:${port}/petstore`);
  const add = (database: Database, name: string) =>
    succeeds(database.insert(intoOf(PETS), [[name, 1n, null]], undefined));
  const names = async (database: Database) => {
    const rows = await database.query<{ name: string }>('SELECT name FROM pets ORDER BY id', [], undefined);
    return rows.map(({ name }) => name);
  };

  beforeAll(async () => {
    [a, b] = await Promise.all([startMysqlServer(), startMysqlServer()]);
    afterFile(a.remove);
    afterFile(b.remove);
  });

  test('is found wherever it stands in DATABASE_URL', async () => {
    const url = await both();
    await setReadOnly(a, 1);
    const database = await openDatabase(url);
    expect(await add(database, 'on b')).toBe(true);
    expect(await names(await openLone(b))).toEqual(['on b']);
  });

  test.each([
    ['of several hosts', false],
    ['behind one address', true],
  ])(
    '%s is found again after it has moved, and nothing is read from the old one',
    RETRY_NOT_WITHIN,
    async (_which, hasOneAddress) => {
      const url = await both();
      const proxy = await startTcpProxy(`mysql://app@127.0.0.1:${a.port}/petstore`);
      const database = await openDatabase(hasOneAddress ? proxy.url : url);
      expect(await add(database, 'on a')).toBe(true);
      await Promise.all(Array.from({ length: 8 }, () => names(database)));
      await setReadOnly(b, 1);
      await setReadOnly(a, 1);
      proxy.move(b.port);
      await setReadOnly(b, 0);
      await eventually(() => add(database, 'on b'), HEALED_WITHIN_MS, 'creates go to the other one');
      const lists = await Promise.all(Array.from({ length: 30 }, () => names(database)));
      expect(lists.filter((list) => list.includes('on a'))).toEqual([]);
    },
  );

  test('a demotion is noticed by reads alone', RETRY_NOT_WITHIN, async () => {
    const database = await openDatabase(await both());
    expect(await add(database, 'on a')).toBe(true);
    await setReadOnly(a, 1);
    expect(await add(await openLone(b), 'on b')).toBe(true);
    await eventually(async () => (await names(database)).join() === 'on b', HEALED_WITHIN_MS, 'reads follow');
  });

  test.each([
    ['the one before it', (lost: string, other: string) => `${lost},${other}`],
    ['the one after it', (lost: string, other: string) => `${other},${lost}`],
  ])(
    'a host that vanishes without a word, for new connections too: %s is used soon',
    RETRY_NOT_WITHIN,
    async (_which, order) => {
      await both();
      await setReadOnly(b, 1);
      const proxy = await startTcpProxy(`mysql://app@127.0.0.1:${a.port}/petstore`);
      const hosts = order(`127.0.0.1:${proxy.port}`, `127.0.0.1:${b.port}`);
      const database = await openDatabase(`mysql://app@${hosts}/petstore`);
      expect(await add(database, 'on a')).toBe(true);
      proxy.swallowAnswersTo(/(?:)/);
      proxy.loseOpenOnes();
      proxy.move(await startSilent());
      const meanwhile = Array.from({ length: 8 }, () => add(database, 'lost'));
      await delay(2300); // the second attempt has begun, and this one has just said that it takes no writes
      await setReadOnly(b, 0);
      // The silent one is given up before all are asked again.
      await eventually(() => add(database, 'on b'), CONNECT_MS + HEALED_WITHIN_MS, 'creates go to the other one');
      await Promise.all(meanwhile);
    },
  );

  test('a host whose name is not known may be the one that takes writes: the other one is no lone server', async () => {
    await both();
    await setReadOnly(a, 1);
    const database = await openDatabase(`mysql://app@127.0.0.1:${a.port},nowhere.invalid/petstore`);
    await expect(names(database)).rejects.toMatchObject({ meaning: 'noWriter' });
    await setReadOnly(a, 0);
    await eventually(() => add(database, 'on a'), HEALED_WITHIN_MS, 'it is used when it takes writes');
  });

  test('after a pause each read asks for itself: none is answered by a server that was left meanwhile', async () => {
    const database = await openDatabase(await both());
    expect(await add(database, 'on a')).toBe(true);
    const lists = () =>
      Promise.all(Array.from({ length: 8 }, () => database.query('SELECT SLEEP(0.02)', [], undefined)));
    await lists();
    await setReadOnly(a, 1);
    expect(await add(await openLone(b), 'on b')).toBe(true);
    await delay(1700); // longer than a server's word counts
    const found = await Promise.all(Array.from({ length: 8 }, () => names(database)));
    expect(found).toEqual(Array(8).fill(['on b']));
  });

  test('a create under an Idempotency-Key that is refused is done by the server that takes writes', async () => {
    const database = await openDatabase(await both());
    expect(await add(database, 'on a')).toBe(true);
    await setReadOnly(a, 1);
    const once = { ownerId: 'k', idempotencyKey: 'once', position: 1 };
    const newPet = { name: 'on b', categoryId: '1' as Int64, status: null };
    await createStores(database)(PETS).add(newPet, once, deadlineIn(5000));
    expect(await names(database)).toEqual(['on b']);
  });

  test(
    'nobody takes writes: reads of several hosts are refused, a lone host answers them',
    RETRY_NOT_WITHIN,
    async () => {
      const several = await openDatabase(await both());
      await setReadOnly(a, 1);
      await setReadOnly(b, 1);
      await expect(names(several)).rejects.toMatchObject({ meaning: 'noWriter' });
      const lone = await openLone(a);
      expect(await names(lone)).toEqual([]);
      expect([lone.takesWrites(), await add(lone, 'x')]).toEqual([false, false]);
      await setReadOnly(a, 0);
      await eventually(() => add(lone, 'again'), HEALED_WITHIN_MS, 'the lone host takes writes');
      await eventually(() => add(several, 'too'), HEALED_WITHIN_MS, 'so does one of several');
    },
  );

  test('an account that may write everywhere does not write to a read-only server', async () => {
    await both();
    await setReadOnly(a, 1);
    const database = await openDatabase(`mysql://root@127.0.0.1:${a.port}/petstore`);
    expect(await add(database, 'lost')).toBe(false);
    await setReadOnly(a, 0);
  });
});
