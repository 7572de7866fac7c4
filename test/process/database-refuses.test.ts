import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { migrateDown, migrateUp } from '../../src/gateway/database/migrations.ts';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';
import { limitFiles } from '../faults/sqlite-faults.ts';
import { type AppServer, startAppServer } from '../support/app-server.ts';
import type { Answer } from '../support/client.ts';
import { describeEachEngine, describeOnMysql, SQLITE } from '../support/engines.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { connectClient, eventually, isShed, petBody, unlessShed } from '../support/load.ts';
import { openDatabase, startPrepared } from '../support/prepared.ts';
import { msSince, RETRY_LATE } from '../support/stall-clock.ts';
import { startStatementProxy } from '../support/statement-proxy.ts';
import { has } from '../support/tools.ts';

const ANSWERED_WITHIN_MS = 5500;
const HEALED_WITHIN_MS = 2000;
/** The same on a machine that holds everything up for some seconds. */
const LATE_AT_MOST_MS = 10_000;
const PET = { name: 'Rex', categoryId: 1 };
const ADD_PET = 'mutation { addPet(input: {name: "Rex", categoryId: 1}) { id } }';

/** What a database says of a row that its table does not take. */
const CAUSE = /category_id|name|status|partition|constraint|frozen|exception|collation/i;

/** An honest "not now": 503 over REST, and over GraphQL the code in a well-formed result. */
function expectUnavailable({ status, headers, json, text }: Answer): void {
  if (json.errors === undefined) expect([status, json.code]).toEqual([503, 'service_unavailable']);
  else expect(json.errors[0].extensions).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfter: 1 });
  expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(text).not.toMatch(/sql|knex|ECONN|read.?only|127\.0\.0\.1/i);
}

/** Whatever is asked of the animals. */
async function expectAllUnavailable({ request, createPet, graphql }: TestGateway): Promise<void> {
  const answers = await Promise.all([
    request('/v1/pets'),
    request('/v1/pets?status=sold'),
    request('/v1/pets/1'),
    createPet(PET),
    createPet(PET, { 'idempotency-key': 'once' }),
    graphql('{ pets { status } }'),
    graphql(ADD_PET),
  ]);
  for (const answer of answers) expectUnavailable(answer);
}

describe.runIf(has('database'))('what operations do to a server and an account', () => {
  const GRANT = "GRANT ALL ON petstore.* TO app@'%'";
  let app: AppServer;
  let gateway: TestGateway;

  beforeAll(async () => {
    app = await startAppServer();
    gateway = await startGateway(app.engine);
  });

  test('it is read-only: writes are 503 on both APIs, reads go on; it heals by itself', async () => {
    expect((await gateway.createPet(PET)).status).toBe(201);
    await app.root.query('SET GLOBAL read_only = 1'); // for accounts without the privilege to write all the same
    expectUnavailable(await gateway.createPet(PET));
    expectUnavailable(await gateway.createPet(PET, { 'idempotency-key': 'read-only' }));
    expectUnavailable(await gateway.graphql(ADD_PET));
    expect((await gateway.request('/v1/pets')).json).toHaveLength(1);
    const { status, json } = await gateway.request('/readyz');
    expect([status, json.database]).toEqual([200, 'takes no writes']); // reads go on

    await app.root.query('SET GLOBAL read_only = 0');
    await eventually(async () => (await gateway.createPet(PET)).status === 201, LATE_AT_MOST_MS, 'it heals');
    expect((await gateway.createPet(PET, { 'idempotency-key': 'read-only' })).status).toBe(201);
    expect((await gateway.request('/v1/pets')).json).toHaveLength(3);
  });

  test.each([
    ['may see nothing', "REVOKE ALL ON petstore.* FROM app@'%'; GRANT CREATE ON petstore.* TO app@'%'", GRANT],
    ['is locked', "ALTER USER app@'%' ACCOUNT LOCK", "ALTER USER app@'%' ACCOUNT UNLOCK"],
    ['has another password', "ALTER USER app@'%' IDENTIFIED BY 'x'", "ALTER USER app@'%' IDENTIFIED BY 'S3cret'"],
  ])('it %s: 503 on both APIs, and it heals by itself', async (_what, change, undo) => {
    const isKnown = async () => (await gateway.request('/v1/pets')).status === 200;
    await eventually(isKnown, HEALED_WITHIN_MS, 'its key is known');
    await app.root.query(change);
    await app.cutAll();
    await expectAllUnavailable(gateway);
    await app.root.query(undo);
    // All of its connections, not only one.
    const isWell = async () => {
      const lists = Array.from({ length: 30 }, (_, index) => gateway.request(`/v1/pets?limit=${index + 1}`));
      const create = gateway.createPet(PET, { 'idempotency-key': 'once' });
      return (await Promise.all([...lists, create])).every(({ status }) => status < 300);
    };
    // A session that began too early may be idle meanwhile: it is replaced when it is used.
    const staysWell = async () => {
      for (let round = 0; round < 5; round++) {
        if (!(await isWell())) return false;
        await delay(100);
      }
      return true;
    };
    await eventually(staysWell, 5 * HEALED_WITHIN_MS, 'it heals, all of its connections');
    expect(JSON.stringify(gateway.logs)).not.toContain('S3cret');
  });

  test('it may only read: readiness is 503 once a write was refused, and 200 when one would be taken, though nobody tries', async () => {
    const gateway = await startGateway(app.engine, { DATABASE_POOL_MAX: '3' });
    const isReady = async () => (await gateway.request('/readyz')).status === 200;
    expect(await isReady()).toBe(true);
    expect((await gateway.createPet(PET)).status).toBe(201);

    await app.root.query(
      "REVOKE ALL ON petstore.* FROM app@'%'; GRANT SELECT, UPDATE, DELETE ON petstore.* TO app@'%'",
    );
    const isRefused = async () => {
      await app.cutAll();
      const { headers, status } = await gateway.createPet(PET);
      const line = gateway.logs.find((each) => each.requestId === headers.get('x-request-id') && each.level === 50);
      return status === 503 && JSON.stringify(line).includes('INSERT command denied');
    };
    await eventually(isRefused, 5 * HEALED_WITHIN_MS, 'creates are refused');
    // A probe that was held up says something else.
    const saysWhy = async () => {
      const { status, json } = await gateway.request('/readyz');
      return status === 503 && json.message === 'The database refuses writes.';
    };
    await eventually(saysWhy, LATE_AT_MOST_MS, 'readiness notices');
    await delay(2500); // it is asked once a second at most: twice more, it still says so
    expect((await gateway.request('/readyz')).status).toBe(503);
    const before = await gateway.request('/v1/pets?limit=100');
    expect(before.status).toBe(200);

    await app.root.query(GRANT);
    await eventually(isReady, LATE_AT_MOST_MS, 'readiness notices that a write would be taken');
    // On each session, those that were opened while it might not included.
    const creates = await Promise.all(Array.from({ length: 9 }, () => gateway.createPet(PET)));
    expect(creates.map(({ status }) => status)).toEqual(creates.map(() => 201));
    const { json } = await gateway.request('/v1/pets?limit=100');
    expect(json).toHaveLength(Math.min(100, before.json.length + creates.length)); // what was tried added nothing
  });
});

describeOnMysql('the database refuses', (engine) => {
  test('all connections of the pool are taken: 503 in time, on both APIs and /readyz', RETRY_LATE, async () => {
    const gateway = await startGateway(engine, { DATABASE_POOL_MAX: '1' });
    expect((await gateway.createPet(PET)).status).toBe(201);
    const { client } = gateway.database.knex;
    const hold = () => client.acquireConnection();
    const connection = await gateway.database.run(hold, { deadline: deadlineIn(60_000) }); // longer than all answers
    const startedAt = performance.now();
    const answers = await Promise.all([
      ...Array.from({ length: 30 }, () => gateway.createPet(PET)),
      ...Array.from({ length: 30 }, (_, index) => gateway.request(`/v1/pets?limit=${index + 1}`)),
      gateway.graphql('{ pets { id } }'),
      gateway.request('/readyz'),
    ]);
    const ms = msSince(startedAt);
    client.releaseConnection(connection); // else the end of a test that is late waits for it
    const late = answers.filter(({ status, text }) => status === 429 && isShed(text));
    expect(late, 'late').toEqual([]);
    expect(ms, 'late').toBeLessThan(ANSWERED_WITHIN_MS);
    for (const answer of answers) expectUnavailable(answer);
    expect((await gateway.request('/v1/pets')).json).toHaveLength(1);
    expect((await gateway.request('/readyz')).status).toBe(200);
  });
});

describeEachEngine('readiness', (engine) => {
  test('is 503 when the migrations are taken back under way, and 200 once they are done again', async () => {
    const url = await engine.freshDatabase();
    const { request } = await startGateway(engine, { DATABASE_URL: url });
    const other = await openDatabase(url);
    const isReady = async () => (await request('/readyz')).status === 200;
    expect(await isReady()).toBe(true);
    await migrateDown(other);
    const saysWhy = async () => {
      const { status, json } = await request('/readyz');
      return status === 503 && json.message?.includes('Migrations are pending');
    };
    await eventually(saysWhy, LATE_AT_MOST_MS, 'nobody is sent here');
    await migrateUp(other);
    await eventually(isReady, LATE_AT_MOST_MS, 'it is ready again');
  });

  test('is 503 when a table is away, until it is back', async () => {
    const gateway = await startGateway(engine);
    const isReady = async () => (await gateway.request('/readyz')).status === 200;
    expect(await isReady()).toBe(true);
    await gateway.database.knex.schema.renameTable('pets', 'away');
    expect((await gateway.createPet(PET)).status).toBe(503);
    await eventually(async () => !(await isReady()), LATE_AT_MOST_MS, 'readiness notices');
    await gateway.database.knex.schema.renameTable('away', 'pets');
    await eventually(isReady, LATE_AT_MOST_MS, 'it is back');
  });

  test.runIf(engine.name === 'mysql').for([
    [200, 1047],
    [200, 1205],
    [200, 1213],
    [200, 1290],
    [200, 1317],
    [503, 1105], // Vitess gives it for any error
  ] as const)('is %i where creates end with error %i', async ([status, errno]) => {
    const refuses = [{ pattern: /^INSERT INTO pets/, errno, message: 'try restarting transaction' }];
    const proxy = await startStatementProxy(await engine.freshDatabase(), { refuses, ignores: [] });
    const gateway = await startGateway(engine, { DATABASE_URL: proxy.url });
    expect((await gateway.createPet(PET)).status).toBe(503);
    await delay(1000); // it is asked once a second at most
    const probe = async () => {
      const answer = await gateway.request('/readyz');
      return answer.json.message !== 'The database does not answer.' && answer; // a probe that was too late
    };
    expect((await eventually(probe, 30_000, 'a probe in time')).status).toBe(status);
  });

  test('writes are tried once where only some values are refused', async () => {
    const { database, createPet, request } = await startGateway(engine);
    await database.knex.raw('CREATE UNIQUE INDEX one ON pets (category_id)');
    expect([(await createPet(PET)).status, (await createPet(PET)).status]).toEqual([201, 503]);
    const failuresAfterProbe = async () => {
      await delay(1000); // it is asked once a second at most
      expect((await request('/readyz')).status).toBe(200);
      return database.failures();
    };
    const before = database.failures();
    expect([await failuresAfterProbe(), await failuresAfterProbe()]).toEqual([before + 1, before + 1]);
  });

  test.runIf(engine.name === 'mysql')(
    'a table that somebody has locked for a while is no reason to send readers away',
    async () => {
      const url = await engine.freshDatabase();
      const gateway = await startGateway(engine, { DATABASE_URL: url });
      const holder = await mysql.createConnection(url);
      await holder.query('LOCK TABLES pets READ');
      try {
        expect((await gateway.createPet(PET)).status).toBe(503);
        await delay(1000); // it is asked once a second at most
        const isServed = async (path: string) => (await gateway.request(path)).status === 200;
        // A loaded machine may be late once.
        for (const path of ['/readyz', '/v1/pets']) await eventually(() => isServed(path), HEALED_WITHIN_MS, path);
      } finally {
        await holder.end();
      }
    },
  );
});

describeEachEngine('a key cannot be looked up', (engine) => {
  it.each(['/v1/pets', '/graphql?query={pets{id}}'])('%s is 503, and not 401', async (path) => {
    const gateway = await startGateway(engine);
    await gateway.database.knex.schema.renameTable('api_keys', 'api_keys_away');
    expectUnavailable(await gateway.request(path)); // and not 500: it was somebody's work at the database
    await gateway.database.knex.schema.renameTable('api_keys_away', 'api_keys');
    expect((await gateway.request(path)).status).toBe(200);
  });
});

describeEachEngine('what operations do to the tables', (engine) => {
  test.each([
    ['a table is taken away', 'ALTER TABLE pets RENAME TO away', 'ALTER TABLE away RENAME TO pets'],
    [
      'a column has another name',
      'ALTER TABLE pets RENAME COLUMN status TO state',
      'ALTER TABLE pets RENAME COLUMN state TO status',
    ],
  ])('%s: 503 on both APIs, and all is well when it is back', async (_what, change, undo) => {
    const gateway = await startGateway(engine);
    const { knex } = gateway.database;
    await knex.raw(change);
    await expectAllUnavailable(gateway);
    await knex.raw(undo);
    expect((await gateway.createPet(PET, { 'idempotency-key': 'once' })).status).toBe(201);
    expect((await gateway.request('/v1/pets')).json).toHaveLength(1);
  });
});

describeEachEngine('a table that operations have changed', (engine) => {
  /** What was done to the table, and an animal that it does not take any more. */
  const CHANGES: readonly (readonly [what: string, change: string, refused: object])[] =
    engine.name === 'mysql'
      ? [
          [
            'a trigger refuses some',
            "CREATE TRIGGER frozen BEFORE INSERT ON pets FOR EACH ROW IF NEW.category_id = 13 THEN SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 30001; END IF",
            { categoryId: 13 },
          ],
          ['a constraint refuses some', 'ALTER TABLE pets ADD CHECK (category_id <> 13)', { categoryId: 13 }],
          ['a number was narrowed', 'ALTER TABLE pets MODIFY category_id TINYINT NOT NULL', { categoryId: 300 }],
          ['a text was narrowed', 'ALTER TABLE pets MODIFY name VARCHAR(3) NOT NULL', { name: 'Nero' }],
          [
            'a text has a smaller character set',
            'ALTER TABLE pets MODIFY name TEXT CHARACTER SET latin1 NOT NULL',
            { name: '\u732b' },
          ],
          ['a status is missed', "ALTER TABLE pets MODIFY status ENUM('sold') NOT NULL", { status: undefined }],
          ['a word is gone', "ALTER TABLE pets MODIFY status ENUM('sold')", { status: 'pending' }],
          [
            'a partition is missed',
            'ALTER TABLE pets DROP PRIMARY KEY, ADD PRIMARY KEY (id, category_id) PARTITION BY LIST (category_id) (PARTITION p VALUES IN (1))',
            { categoryId: 2 },
          ],
        ]
      : [
          [
            'a trigger refuses some',
            "CREATE TRIGGER frozen BEFORE INSERT ON pets WHEN NEW.category_id = 13 BEGIN SELECT RAISE(ABORT, 'frozen'); END",
            { categoryId: 13 },
          ],
        ];

  test.each(CHANGES)(
    '%s: 503 with its cause in the log, and none that share a statement',
    { retry: { count: 2, condition: /^late|^no answer in time/ } }, // creates have 5 s, which an overloaded machine may take for the change alone
    async (_what, change, refused) => {
      const gateway = await startGateway(engine);
      await gateway.database.knex.raw(change);
      const create = (changed: object, index: number) =>
        gateway.createPet(
          { ...PET, categoryId: 1, status: 'sold', ...changed },
          index % 2 === 0 ? {} : { 'idempotency-key': `${changed === refused ? 'refused' : 'allowed'}-${index}` },
        );
      const allowed = Array.from({ length: 20 }, (_, index) => unlessShed(() => create({}, index)));
      const forbidden = Array.from({ length: 4 }, (_, index) => unlessShed(() => create(refused, index)));
      /** The status of an answer, and its cause in the log. */
      const told = ({ status, headers }: Answer) => {
        const requestId = headers.get('x-request-id');
        const line: any = gateway.logs.find((one) => one.requestId === requestId && one.level === 50);
        return `${status} ${line?.err.message}`;
      };
      const unserved = (await Promise.all(allowed)).filter(({ status }) => status !== 201).map(told);
      const refusals = await Promise.all(forbidden);
      const withOthers = unserved.filter((one) => !one.startsWith('503 ') || CAUSE.test(one));
      expect(withOthers, 'refused with others').toEqual([]);
      expect(JSON.stringify(gateway.logs)).not.toMatch(/Nero|猫|xE7|'300'|insert into/i); // whose animal it is stays theirs
      for (const answer of refusals) expectUnavailable(answer);
      expect(unserved, 'late').toEqual([]);
      const withoutCause = refusals.map(told).filter((one) => !CAUSE.test(one));
      expect(withoutCause, 'late').toEqual([]);
    },
  );
});

describe('sqlite › the database refuses', () => {
  test('the file is full: writes are 503, reads go on; it heals by itself', async () => {
    const { prepared, gateway } = await startPrepared(SQLITE);
    const { ask } = connectClient(gateway.url, prepared.key);
    expect((await ask('POST', '/v1/pets', petBody('before'))).status).toBe(201);
    const once = { 'idempotency-key': 'once' };
    limitFiles(gateway.child.pid, 0);
    for (const headers of [{}, once])
      expect((await ask('POST', '/v1/pets', petBody('full'), headers)).status).toBe(503);
    expect((await ask('GET', '/v1/pets')).text).toContain('before');
    limitFiles(gateway.child.pid, 'unlimited');
    for (const headers of [{}, once]) {
      expect((await ask('POST', '/v1/pets', petBody('full'), headers)).status).toBe(201);
    }
    expect([...(await prepared.countNames())]).toEqual([
      ['before', 1],
      ['full', 2],
    ]);
  });

  // The reads must be answered before the writes give up, after 2 s: a machine may stand still so long once, not three times.
  const title = 'another process holds the write lock: every answer is right or 503 within 5 s; it heals by itself';
  test(title, RETRY_LATE, async () => {
    const { prepared, gateway } = await startPrepared(SQLITE);
    const clients = Array.from({ length: 3 }, () => connectClient(gateway.url, prepared.key));
    await Promise.all(clients.map(({ ask }) => ask('GET', '/v1/pets')));
    const reader = await prepared.keys.create({ name: 'reader', expiresAt: null });
    const holder = new DatabaseSync(prepared.url.slice('sqlite:'.length));
    holder.exec('BEGIN IMMEDIATE');
    const creating = clients.map(({ ask }, number) =>
      ask('POST', '/v1/pets', petBody(`locked-${number}`), number === 0 ? { 'idempotency-key': 'locked' } : {}),
    );
    let isRefused = false;
    void Promise.race(creating).then(() => {
      isRefused = true;
    });
    await delay(100);
    // What only reads waits for no write: the look-up of another key, and readiness.
    const another = connectClient(gateway.url, reader.key);
    for (const path of ['/v1/pets', '/readyz']) {
      const { status } = await unlessShed(() => another.ask('GET', path));
      expect([path, status]).toEqual([path, 200]);
      expect(isRefused, 'late').toBe(false);
    }
    const answers = await Promise.all(creating);
    holder.exec('ROLLBACK');
    holder.close();
    expect(answers.map(({ status }) => status)).toEqual(clients.map(() => 503));
    expect(Math.max(...answers.map(({ ms }) => ms)), 'late').toBeLessThan(ANSWERED_WITHIN_MS);
    const [client] = clients;
    const isFree = async () => (await client?.ask('POST', '/v1/pets', petBody('free')))?.status === 201;
    await eventually(isFree, HEALED_WITHIN_MS, 'it heals');
    expect((await prepared.countNames()).size).toBe(1);
  });
});
