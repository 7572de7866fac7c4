import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { expect, it, test } from 'vitest';
import { migrateUp, migrationStatus } from '../../src/gateway/database/migrations.ts';
import { REQUEST_MS } from '../../src/gateway/deadlines.ts';
import { createKeyStore } from '../../src/gateway/keys/key-store.ts';
import { send } from '../support/client.ts';
import { describeEachEngine, describeOnMysql, SQLITE } from '../support/engines.ts';
import { connectClient, eventually, petBody, served } from '../support/load.ts';
import { openDatabase, prepareDatabase } from '../support/prepared.ts';
import { run, startProcess } from '../support/process.ts';

const MIGRATIONS = readdirSync(join(import.meta.dirname, '../../migrations')).length;

/** Has a process kill itself when Knex is about to run the statement of that number. */
function diesAt(statement: number): string {
  const script = `
import Client from '${import.meta.resolve('knex/lib/client.js')}';
let statements = 0;
const { emit } = Client.prototype;
Client.prototype.emit = function (name, ...args) {
  if (name === 'query' && ++statements === ${statement}) process.kill(process.pid, 'SIGKILL');
  return emit.call(this, name, ...args);
};`;
  return `--import=data:text/javascript,${encodeURIComponent(script)}`;
}

/** Whether a gateway is ready soon: a machine with much else to do is too late for some probes. */
const isReady = (url: string) =>
  eventually(async () => (await send(`${url}/readyz`)).status === 200, 20_000, 'it is ready');

describeEachEngine('starting together', (engine) => {
  it.each([2, 5])('%i gateways on an empty database: each serves, each migration ran once', async (count) => {
    const env = { DATABASE_URL: await engine.freshDatabase() };
    const gateways = await Promise.all(Array.from({ length: count }, () => startProcess(env)));
    const database = await openDatabase(env.DATABASE_URL);
    const { key } = await createKeyStore(database).create({ name: 'test', expiresAt: null });
    for (const [index, { url, stderr }] of gateways.entries()) {
      expect(await isReady(url)).toBe(true);
      const { ask } = connectClient(url, key);
      const once = { 'idempotency-key': `from-${index}` };
      const create = () => ask('POST', '/v1/pets', petBody(`from ${index}`), once);
      expect((await served(create)).status).toBe(201);
      expect(stderr()).toBe('');
    }
    expect((await migrationStatus(database)).completed).toHaveLength(MIGRATIONS);
    expect(await database.knex('pets').select('id')).toHaveLength(count);
  });

  test('five migration runners at once: one works, the others find nothing to do', async () => {
    const env = { DATABASE_URL: await engine.freshDatabase() };
    const runners = Array.from({ length: 5 }, () => run('cli/migrate.ts', [], env));
    for (const { exited } of runners) expect((await exited).code).toBe(0);
    const idle = runners.filter(({ stdout }) => stdout() === 'Nothing to do.\n');
    expect(idle).toHaveLength(4);
  });

  test('a gateway starts beside a newer one that has added to the schema', async () => {
    const { url, database } = await prepareDatabase(engine);
    await database.knex('knex_migrations').insert({ name: '29991231_000_of_a_newer_version.ts', batch: 2 });
    const gateway = await startProcess({ DATABASE_URL: url });
    expect(await isReady(gateway.url)).toBe(true);
  });

  test('a runner that is killed at any statement blocks nobody', async () => {
    const env = { DATABASE_URL: await engine.freshDatabase() };
    for (const statement of [5, 12, 20, 30]) {
      const runner = run('cli/migrate.ts', [], { ...env, NODE_OPTIONS: diesAt(statement) });
      // Not at its end: the next one finds what this one has left.
      expect(await runner.exited).toEqual({ code: null, signal: 'SIGKILL' });
    }
    const gateway = await startProcess(env);
    expect(await isReady(gateway.url)).toBe(true);
    expect((await migrationStatus(await openDatabase(env.DATABASE_URL))).completed).toHaveLength(MIGRATIONS);
  });
});

test('sqlite › starting together › a migration waits for another one that takes longer than a request may', async () => {
  const url = await SQLITE.freshDatabase();
  const migrating = new DatabaseSync(url.slice('sqlite:'.length));
  migrating.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE');
  const waiting = migrateUp(await openDatabase(url));
  await Promise.race([waiting, delay(REQUEST_MS + 500)]);
  migrating.exec('COMMIT');
  migrating.close();
  expect(await waiting).toHaveLength(MIGRATIONS);
});

describeOnMysql('starting together', (engine) => {
  test('a runner that is killed between a table and its record blocks nobody', async () => {
    const { url, database } = await prepareDatabase(engine);
    expect((await run('cli/migrate.ts', ['--rollback'], { DATABASE_URL: url }).exited).code).toBe(0);
    const holder = await mysql.createConnection(url);
    await holder.query('LOCK TABLES knex_migrations READ'); // tables may be made, but not recorded
    const runner = run('cli/migrate.ts', [], { DATABASE_URL: url });
    await eventually(() => database.knex.schema.hasTable('pets'), 60_000, 'the first table is made');
    const waiting = startProcess({ DATABASE_URL: url });
    await delay(300);
    runner.child.kill('SIGKILL');
    await runner.exited;
    await holder.query('UNLOCK TABLES');
    await holder.end();
    const gateway = await waiting;
    expect(await isReady(gateway.url)).toBe(true);
    expect((await migrationStatus(database)).completed).toHaveLength(MIGRATIONS);
  });

  test("Knex's own lock, left behind by a killed runner, blocks nobody", async () => {
    const { url, database } = await prepareDatabase(engine);
    await database.knex('knex_migrations_lock').update({ is_locked: 1 });
    await database.knex('knex_migrations').where('name', 'like', '%create_deprecated_use%').delete();
    await database.knex.schema.dropTable('deprecated_use');
    const gateway = await startProcess({ DATABASE_URL: url });
    expect(await isReady(gateway.url)).toBe(true);
    expect((await migrationStatus(database)).pending).toEqual([]);
  });
});
