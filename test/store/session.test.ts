import type { Connection, RowDataPacket } from 'mysql2/promise';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/gateway/database/connect.ts';
import { migrateUp } from '../../src/gateway/database/migrations.ts';
import { examineSession } from '../../src/gateway/database/schema-check.ts';
import { parseMysqlAddress } from '../../src/lib/mysql-pool/mysql-address.ts';
import { openSession } from '../../src/lib/mysql-pool/mysql-session.ts';
import { createRoundTrip } from '../../src/lib/mysql-pool/round-trip.ts';
import { LIMITS, TIMES } from '../lib/mysql-pool/pool-settings.ts';
import { startAppServer } from '../support/app-server.ts';
import { ENGINES } from '../support/engines.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';
import { freePort } from '../support/ports.ts';
import { openDatabase } from '../support/prepared.ts';
import { RETRY_LATE } from '../support/stall-clock.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const [, engine] = ENGINES; // MySQL, where there is a server

/** Texts that another character set, another way of escaping or another collation would change. */
const NAMES = [
  'Zoë, Ærø, Øre, naïve, Straße',
  '日本語 中文 한국어 𠮷野家',
  'Ελληνικά Русский עברית العربية हिन्दी ไทย',
  '🐕‍🦺 👩🏽‍🚀 🏴󠁧󠁢󠁷󠁬󠁳󠁿 \u{10FFFF}',
  'e\u0301 is not é; a  and a ',
  `\\ \\\\ ' '' " \` % _ ? \0 \b \n \r \t \x1a ; -- # /*! 1 */`,
  '',
];

/** What a server may do to every session of an account that is no administrator's. */
const INIT_CONNECT = [
  '',
  'SET NAMES latin1',
  'SET NAMES utf8mb3',
  "SET NAMES utf8mb4; SET character_set_results = 'latin1'",
  'SET character_set_results = NULL',
  "SET character_set_connection = 'ascii'",
  "SET NAMES gbk, sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES,NO_AUTO_VALUE_ON_ZERO,PAD_CHAR_TO_FULL_LENGTH', autocommit = 0",
  'SET sql_select_limit = 1, sql_safe_updates = 1, sql_big_selects = 0, max_join_size = 1, unique_checks = 0',
  "SET completion_type = 'CHAIN', time_zone = '+13:00', wait_timeout = 1, innodb_lock_wait_timeout = 100",
];

let admin: Connection;
/** Of the account of the gateway. */
let url: string;

beforeAll(async () => {
  if (engine === undefined) return;
  const latin1 = ['--character-set-server=latin1', '--collation-server=latin1_swedish_ci'];
  ({ root: admin, url } = await startAppServer(['--loose-skip-character-set-client-handshake', ...latin1]));
  await admin.query('ALTER DATABASE petstore CHARACTER SET utf8mb4');
});

afterEach(async () => {
  await admin.query("SET GLOBAL init_connect = '', max_prepared_stmt_count = DEFAULT");
});

const start = (databaseUrl: string, settings = {}): Promise<TestGateway> => {
  if (engine === undefined) throw new Error('there is no server');
  return startGateway(engine, { DATABASE_URL: databaseUrl, LOG_LEVEL: 'silent', ...settings });
};

/** The ids and names that a gateway lists, by both of its APIs, which must agree. */
async function listNames(gateway: TestGateway, after: string): Promise<string[]> {
  const rest = await gateway.request(`/v1/pets?limit=100&after=${after}`);
  const { data } = (await gateway.graphql(`{ pets(limit: 100, after: "${after}") { name } }`)).json;
  const [names, same] = [rest.json, data.pets].map((pets) => pets.map(({ name }: { name: string }) => name));
  expect(same).toEqual(names);
  return names;
}

/** Creates every name by REST, by GraphQL and under an Idempotency-Key; each comes back, and stands there, byte for byte. */
async function expectExactNames(gateway: TestGateway): Promise<void> {
  const [before] = await admin.query<RowDataPacket[]>('SELECT COALESCE(MAX(id), 0) AS id FROM petstore.pets');
  const after = String(before[0]?.id);
  const add = 'mutation ($name: String!) { addPet(input: { name: $name, categoryId: "9007199254740993" }) { name } }';
  for (const name of NAMES) {
    const created = await gateway.createPet({ name, categoryId: 1 });
    expect([created.status, created.json.name]).toEqual([201, name]);
    const once = { 'idempotency-key': crypto.randomUUID() };
    for (const replayed of [null, 'true']) {
      const again = await gateway.createPet({ name, categoryId: 1, status: 'sold' }, once);
      expect([again.status, again.json.name, again.headers.get('idempotency-replayed')]).toEqual([201, name, replayed]);
    }
    const { json } = await gateway.graphql(add, { name });
    expect(json).toEqual({ data: { addPet: { name } } });
  }
  const expected = NAMES.flatMap((name) => [name, name, name]);
  expect(await listNames(gateway, after)).toEqual(expected);
  const [stored] = await admin.query<RowDataPacket[]>(
    'SELECT HEX(name) AS hex FROM petstore.pets WHERE id > ? ORDER BY id',
    [after],
  );
  const hex = (name: string) => Buffer.from(name).toString('hex').toUpperCase();
  expect(stored.map((row) => row.hex)).toEqual(expected.map(hex));
}

/** What the gateway sets on every server, as a server shows it. */
const SETTINGS = {
  character_set_client: 'utf8mb4',
  character_set_connection: 'utf8mb4',
  character_set_results: 'utf8mb4',
  collation_connection: 'utf8mb4_bin',
  sql_mode: 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',
  autocommit: 'ON',
  completion_type: 'NO_CHAIN',
  time_zone: '+00:00',
  sql_select_limit: '4294967295',
  sql_big_selects: 'ON',
  sql_safe_updates: 'OFF',
  unique_checks: 'ON',
  innodb_lock_wait_timeout: '2',
  lock_wait_timeout: '2',
  wait_timeout: '50',
  net_read_timeout: '30',
  net_write_timeout: '30',
};
const MARIADB_SETTINGS = {
  tx_isolation: 'REPEATABLE-READ',
  tx_read_only: 'OFF',
  max_statement_time: '5.000000',
  idle_transaction_timeout: '5',
  wsrep_sync_wait: '1',
};
const MYSQL_SETTINGS = {
  transaction_isolation: 'REPEATABLE-READ',
  transaction_read_only: 'OFF',
  max_execution_time: '5000',
};

/** What the server says of a session of this database. */
async function variablesOf(database: Database): Promise<Record<string, string>> {
  const [rows] = await database.run<RowDataPacket[][]>((knex) => knex.raw('SHOW SESSION VARIABLES'));
  return Object.fromEntries((rows ?? []).map(({ Variable_name, Value }) => [Variable_name, Value]));
}

/** A way to the server that changes the questions on it; `asked` are the kinds of those until now. */
async function startChangingProxy(change = (question: string) => question) {
  const proxy = await startTcpProxy(url);
  const asked: unknown[] = [];
  proxy.changeQuestions((bytes) => {
    const question = bytes.toString('latin1');
    asked.push(...(/(?:SET|SHOW) /.exec(question) ?? []));
    return Buffer.from(change(question), 'latin1');
  });
  return { url: proxy.url, asked };
}

/** The server knows this variable by another name. */
const rename = (name: string) => (question: string) => question.replaceAll(name, name.replace(/.$/, '7'));
/** The server refuses to set it. */
const forbid = (name: string) => (question: string) =>
  /SET SESSION/.test(question) ? rename(name)(question) : question;

describe.runIf(engine)('a session', () => {
  test.each([
    '',
    "SET NAMES latin1, sql_select_limit = 1, sql_big_selects = 0, sql_safe_updates = 1, unique_checks = 0, net_read_timeout = 7, net_write_timeout = 3600, completion_type = 'CHAIN', time_zone = '+13:00'",
  ])('has the settings of the gateway, set and compared in two round trips: %s', async (sql) => {
    await admin.query('SET GLOBAL init_connect = ?', [sql]);
    const proxy = await startChangingProxy();
    const database = await openDatabase(proxy.url);
    const variables = await variablesOf(database);
    const own = variables.tx_isolation === undefined ? MYSQL_SETTINGS : MARIADB_SETTINGS;
    expect(variables).toMatchObject({ ...SETTINGS, ...own });
    expect(proxy.asked).toEqual(['SET ', 'SHOW ', 'SHOW ']); // the last one is this test's own
    expect(await examineSession(database)).toEqual({
      facts: { session: 'as the gateway sets it', 'prepared statements': expect.stringMatching(/^\d+ of 16382; /) },
      problems: [],
    });
  });

  test.each(['net_read_timeout', 'sql_safe_updates', 'time_zone', 'completion_type'] as const)(
    'of a server that has no %s has all the others, in four round trips',
    async (name) => {
      const proxy = await startChangingProxy(rename(name));
      const variables = await variablesOf(await openDatabase(proxy.url));
      expect(variables).toMatchObject({ ...SETTINGS, [name]: expect.any(String) });
      expect(proxy.asked).toEqual(['SET ', 'SHOW ', 'SET ', 'SHOW ', 'SHOW ']);
    },
  );

  test('has all others when one may not be set, and doctor names that one', async () => {
    const proxy = await startChangingProxy(forbid('net_write_timeout'));
    const database = await openDatabase(proxy.url);
    expect(await variablesOf(database)).toMatchObject({ ...SETTINGS, net_write_timeout: '60' });
    expect(await examineSession(database)).toMatchObject({
      facts: { session: 'not as the gateway sets it' },
      problems: ['the server has net_write_timeout = 60, the gateway sets 30'],
    });
  });

  test.each([
    ['character_set_results', "'latin1'"],
    ['character_set_client', "'latin1'"],
    ['sql_mode', "'NO_BACKSLASH_ESCAPES'"],
    ['autocommit', '0'],
    ['sql_select_limit', '1', 'character_set_client'], // it cuts what the server says of the others
    ['sql_select_limit', '1000'],
    ['innodb_lock_wait_timeout', '50'],
    ['t\\w+_isolation', "'READ-COMMITTED'"],
  ])('is not used when %s may not be set', async (pattern, other, told?: string) => {
    const name = Object.keys(await variablesOf(await openDatabase(url))).find((each) =>
      new RegExp(`^${pattern}$`).test(each),
    );
    if (name === undefined) throw new Error('the server has none');
    await admin.query('SET GLOBAL init_connect = ?', [`SET SESSION ${name} = ${other}`]);
    const proxy = await startChangingProxy(forbid(name));
    const refused = variablesOf(await openDatabase(proxy.url));
    await expect(refused).rejects.toMatchObject({
      meaning: 'unusable',
      cause: { message: expect.stringContaining(`the session be set up: ${told ?? name} is`) },
    });
  });

  test.each(INIT_CONNECT)(
    'stores and lists names byte for byte, whatever the server begins it with: %s',
    async (sql) => {
      await admin.query('SET GLOBAL init_connect = ?', [sql]);
      const gateway = await start(url);
      await expectExactNames(gateway);
      await gateway.close();
    },
  );

  test.each(['BEGIN', 'SET completion_type = 1; BEGIN', 'START TRANSACTION READ ONLY'])(
    'commits what it adds, even where the server begins it within a transaction: %s',
    async (sql) => {
      await migrateUp(await openDatabase(url));
      await admin.query('SET GLOBAL init_connect = ?', [sql]);
      const database = await openDatabase(url);
      const ids = await database.insert({ table: 'pets', columns: ['name', 'category_id'] }, [['Rex', 1]], undefined);
      const [rows] = await admin.query<RowDataPacket[]>('SELECT id FROM petstore.pets WHERE id IN (?)', [ids]);
      expect(rows).toHaveLength(1);
    },
  );

  test.each([1461, 1295, 1615])('sends text when nothing is prepared (error %i), as exactly', async (number) => {
    const proxy = await startTcpProxy(url);
    const gateway = await start(proxy.url, { DATABASE_POOL_MAX: '2' });
    await gateway.createPet({ name: 'prepared', categoryId: 1 });
    await admin.query('SET GLOBAL max_prepared_stmt_count = 0');
    const refusal = (code: number) => Buffer.from([0xff, code & 0xff, code >> 8]);
    proxy.changeAnswers((bytes) => {
      const at = bytes.indexOf(refusal(1461));
      return at < 0 ? bytes : Buffer.concat([bytes.subarray(0, at), refusal(number), bytes.subarray(at + 3)]);
    });
    await expectExactNames(gateway);
    const fresh = await start(proxy.url, { DATABASE_POOL_MAX: '1' });
    await expectExactNames(fresh);
    for (const categoryId of ['9223372036854775807', '-9223372036854775808', '9007199254740993', '0', '-1']) {
      const created = await fresh.createPet(`{"name":"exact","categoryId":${categoryId}}`);
      expect(created.status).toBe(201);
      const { id } = created.json;
      expect((await fresh.request(`/v1/pets?limit=1&after=${id - 1}`)).text).toContain(`"categoryId":${categoryId}`);
    }
    await Promise.all([gateway.close(), fresh.close()]);
  });

  test('gives rows their ids when the server counts in steps', async () => {
    await migrateUp(await openDatabase(url));
    await admin.query("SET GLOBAL init_connect = 'SET auto_increment_increment = 7, auto_increment_offset = 3'");
    const database = await openDatabase(url);
    const names = Array.from({ length: 5 }, () => crypto.randomUUID());
    const values = names.map((name) => [name, 1]);
    const ids = await database.insert({ table: 'pets', columns: ['name', 'category_id'] }, values, undefined);
    const named = 'SELECT id, name FROM petstore.pets WHERE name IN (?) ORDER BY id';
    const [rows] = await admin.query<RowDataPacket[]>(named, [names]);
    expect(rows.map(({ id, name }) => [String(id), name])).toEqual(names.map((name, index) => [ids[index], name]));
    expect(rows.map(({ id }) => id % 7)).toEqual(names.map(() => 3));
  });

  test('that does nothing is ended by the server, and its transaction undone', async () => {
    await migrateUp(await openDatabase(url));
    const address = parseMysqlAddress(url);
    const limits = { ...LIMITS, statementMs: 0, idleMs: 1000 };
    const target = { host: '127.0.0.1', address: '127.0.0.1', port: Number(new URL(url).port) };
    const { connection } = await openSession({ address, limits, times: TIMES }, target, createRoundTrip());
    await connection.driver.promise().query('BEGIN');
    await connection.driver.promise().query("INSERT INTO pets (name, category_id) VALUES ('lost', 1)");
    await eventually(() => !connection.isOpen(), 30_000, 'the server ends it');
    const [rows] = await admin.query<RowDataPacket[]>(
      "SELECT id FROM petstore.pets WHERE name = 'lost' LOCK IN SHARE MODE",
    );
    expect(rows).toEqual([]);
  });

  test(
    'of a gateway that vanishes in the middle of a keyed create leaves its key within a minute',
    RETRY_LATE,
    async () => {
      const proxy = await startTcpProxy(url);
      const vanishing = await start(proxy.url);
      const other = await start(url);
      const name = `created once ${crypto.randomUUID()}`;
      const create = (gateway: TestGateway) =>
        gateway.createPet(
          { name, categoryId: 1 },
          { authorization: `Bearer ${vanishing.key}`, 'idempotency-key': 'vanished' },
        );
      const nowhere = await freePort();
      const { promise: vanished, resolve } = Promise.withResolvers<void>();
      proxy.changeQuestions((bytes) => {
        if (/COMMIT;?$/.test(bytes.toString('latin1'))) {
          proxy.loseOpenOnes();
          proxy.move(nowhere);
          resolve();
        }
        return bytes;
      });
      const first = create(vanishing);
      await vanished;
      const vanishedAt = performance.now();
      const { status } = await create(other);
      // This waits for a lock for two seconds; the server undoes the transaction after five.
      expect(status, performance.now() - vanishedAt > 4000 ? 'late' : 'at work').toBe(409);
      await eventually(async () => (await create(other)).status === 201, 60_000, 'a retry succeeds');
      expect((await first).status).toBe(503);
      const [rows] = await admin.query<RowDataPacket[]>('SELECT id FROM petstore.pets WHERE name = ?', [name]);
      expect(rows.length).toBe(1);
    },
  );
});
