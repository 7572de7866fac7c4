import mysql from 'mysql2/promise';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { send } from '../support/client.ts';
import { afterFile, SQLITE } from '../support/engines.ts';
import { eventually, petBody, readMetrics } from '../support/load.ts';
import { type MysqlServer, startMysqlServer } from '../support/mysql-server.ts';
import { freePort } from '../support/ports.ts';
import { openDatabase, prepareDatabase } from '../support/prepared.ts';
import { run, type TestProcess } from '../support/process.ts';
import { RETRY_LATE } from '../support/stall-clock.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { has } from '../support/tools.ts';

const LIMIT_MS = 60_000;
const NO_ANSWER = 0;

describe.runIf(has('database'))('a start that waits for a server', () => {
  let server: MysqlServer;
  let root: mysql.Pool;
  let databases = 0;

  beforeAll(async () => {
    server = await startMysqlServer();
    afterFile(server.remove);
    root = mysql.createPool(server.url);
    afterFile(() => root.end());
    await root.query("CREATE USER app@'%' IDENTIFIED BY 'S3cret'");
  });

  /** An empty database that the account may use. */
  const freshDatabase = async () => {
    const name = `petstore_${++databases}`;
    await root.query(`CREATE DATABASE ${name}`);
    await root.query(`GRANT ALL ON ${name}.* TO app@'%'`);
    return `mysql://app:S3cret@127.0.0.1:${server.port}/${name}`;
  };

  /** Starts a gateway on a port that is known before it listens. */
  const start = async (DATABASE_URL: string, env: Record<string, string> = {}) => {
    const port = await freePort();
    const gateway = run('main.ts', [], { PORT: String(port), DATABASE_URL, ...env });
    const own = `http://127.0.0.1:${port}`;
    const status = (address: string) =>
      send(new URL(address, own).href).then(
        (answer) => answer.status,
        () => NO_ANSWER,
      );
    /** A start that waits listens when its first try has failed, or after some seconds. */
    const isWaiting = async () => {
      await eventually(async () => (await status('/livez')) === 200, LIMIT_MS, 'it listens');
      expect(await status('/readyz')).toBe(503);
    };
    const isServing = (url = own) =>
      eventually(async () => (await status(`${url}/readyz`)) === 200, LIMIT_MS, 'it serves');
    return { gateway, status, isWaiting, isServing };
  };
  const tellings = ({ stdout }: TestProcess) => stdout().match(/Waiting for it; http/g)?.length ?? 0;

  it.each(['1', '2'])('that comes back, WORKERS=%s: what was stored stays, its port is never left', async (WORKERS) => {
    const { url: databaseUrl, key, database } = await prepareDatabase(SQLITE, await freshDatabase());
    await database.knex('pets').insert({ name: 'Rex', category_id: 1 });
    await server.stop();
    const { gateway, status, isServing } = await start(databaseUrl, { WORKERS, PORT: '0' });
    const [, url = ''] = await gateway.waitFor(
      /does not answer: connect ECONNREFUSED [^\n]+ Waiting for it; (\S+)\/livez/,
    );
    expect([await status(`${url}/livez`), await status(`${url}/readyz`), await status(`${url}/v1/pets`)]).toEqual([
      200, 503, 503,
    ]);

    let isOver = false;
    const alive = new Set<number>();
    const probing = (async () => {
      while (!isOver) alive.add(await status(`${url}/livez`));
    })();
    await server.restart();
    await isServing(url);
    isOver = true;
    await probing;
    // A worker takes the port over from the primary: a connection may be closed in that moment.
    if (WORKERS === '2') alive.delete(NO_ANSWER);
    expect([...alive]).toEqual([200]);

    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    expect((await send(`${url}/v1/pets`, { headers })).json).toMatchObject([{ name: 'Rex' }]);
    expect((await send(`${url}/v1/pets`, { method: 'POST', headers, body: petBody('Mia') })).status).toBe(201);
    expect(await readMetrics(url)).toContain('petstore_build_info');
    expect(tellings(gateway)).toBe(1);
    expect(gateway.stdout()).not.toContain('S3cret');
    await gateway.stop();
  });

  it.each([
    ['from the first packet on', /^/],
    ['once it has been asked for its settings', /SHOW SESSION VARIABLES/],
    ['within a migration', /CREATE TABLE IF NOT EXISTS pets/],
  ])('that is silent %s: it goes on when the server speaks, migrations included', async (_what, question) => {
    const proxy = await startTcpProxy(await freshDatabase());
    proxy.swallowAnswersTo(question);
    const { gateway, isWaiting, isServing } = await start(proxy.url);
    await eventually(proxy.hasSwallowed, LIMIT_MS, 'it is silent');
    await isWaiting();
    proxy.swallowAnswersTo(undefined);
    proxy.cut(); // a migration has an hour: here its connection is found to be lost
    await isServing();
    expect(tellings(gateway)).toBeLessThanOrEqual(1);
  });

  test('that is lost within a migration, again and again: each next try goes on', async () => {
    const proxy = await startTcpProxy(await freshDatabase());
    const cuts = [
      /GET_LOCK/,
      /create table `knex_migrations`/,
      /CREATE TABLE IF NOT EXISTS api_keys/,
      /insert into `knex_/,
    ];
    proxy.changeQuestions((bytes) => {
      if (cuts[0]?.test(bytes.toString('latin1'))) {
        cuts.shift();
        proxy.cut();
      }
      return bytes;
    });
    const { gateway, isServing } = await start(proxy.url);
    await isServing();
    expect(cuts).toEqual([]);
    expect(tellings(gateway)).toBe(1);
    expect(gateway.stderr()).toBe('');
  });

  // Of a server whose answer comes too late it would say that it does not answer.
  test('that takes no writes, while a migration is pending', RETRY_LATE, async () => {
    const databaseUrl = await freshDatabase();
    await root.query('SET GLOBAL read_only = 1');
    const { gateway, isWaiting, isServing } = await start(databaseUrl);
    await gateway.waitFor(/Waiting for it/);
    await isWaiting();
    await root.query('SET GLOBAL read_only = 0');
    await isServing();
    expect(gateway.stdout(), 'late').toMatch(/cannot be used: [^\n]*read.only[^\n]* Waiting for it/);
  });

  test('that is lost before the first worker listens: the primary answers until it does', async () => {
    const { url } = await prepareDatabase(SQLITE, await freshDatabase());
    const proxy = await startTcpProxy(url);
    const away = await freePort();
    // The primary's last question before it starts workers; its own connection stays.
    proxy.changeQuestions((bytes) => {
      if (bytes.includes("engine <> 'InnoDB'")) proxy.move(away);
      return bytes;
    });
    const { gateway, status, isWaiting, isServing } = await start(proxy.url, { WORKERS: '2' });
    await gateway.waitFor(/Waiting for it; a worker that begins does not listen yet/);
    await isWaiting();
    proxy.changeQuestions(undefined);
    proxy.move(server.port);
    await isServing();
    expect(await status('/livez')).toBe(200);
  });

  test('ends for an unknown database, and for an account that may not migrate', async () => {
    const admin = new URL(server.url);
    admin.pathname = '/nowhere';
    const unknown = run('main.ts', [], { PORT: '0', DATABASE_URL: admin.href });
    expect((await unknown.exited).code).toBe(1);
    expect(unknown.stderr()).toMatch(
      /^The database \S+ does not exist: Unknown database 'nowhere': create it, or correct its name in DATABASE_URL\n$/,
    );
    const url = await freshDatabase();
    const name = new URL(url).pathname.slice(1);
    await root.query(`CREATE USER reader@'%' IDENTIFIED BY 'S3cret'`);
    await root.query(`GRANT SELECT ON ${name}.* TO reader@'%'`);
    const reader = run('main.ts', [], { PORT: '0', DATABASE_URL: url.replace('//app:', '//reader:') });
    expect((await reader.exited).code).toBe(1);
    expect(reader.stderr()).toMatch(/^The database \S+ refuses the account: [^\n]*CREATE command denied [^\n]+\n$/);
    expect(await (await openDatabase(url)).knex.schema.hasTable('pets')).toBe(false);
  });
});
