import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { migrateUp } from '../../src/gateway/database/migrations.ts';
import { send } from '../support/client.ts';
import { afterFile, ENGINES, type TestEngine, temporaryFolder } from '../support/engines.ts';
import { openDatabase, prepareDatabase } from '../support/prepared.ts';
import { startProcess } from '../support/process.ts';
import { sendHalf } from './half-sent.ts';

const [sqlite] = ENGINES as [TestEngine]; // always there; processes are the same on each engine

describe('a gateway of one process', () => {
  test('with HOST=:: is reached by IPv4, and by IPv6 where there is one', async () => {
    const { url } = await startProcess({ DATABASE_URL: 'sqlite::memory:', HOST: '::' });
    const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
    for (const host of ['127.0.0.1', ...(hasIpv6 ? ['[::1]'] : [])]) {
      expect((await send(`http://${host}:${new URL(url).port}/livez`)).status).toBe(200);
    }
  });

  test('SIGHUP ends it as SIGTERM does, as when its terminal is closed', async () => {
    const prepared = await prepareDatabase(sqlite);
    const gateway = await startProcess({ DATABASE_URL: prepared.url });
    const half = await sendHalf(gateway.url, prepared.key, 'under way');
    gateway.child.kill('SIGHUP');
    await gateway.waitFor(/"msg":"stopping"/);
    expect(await half.finish()).toMatch(/^HTTP\/1.1 201 /);
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });

  test('what was counted is written, even when a connection outlives SHUTDOWN_GRACE_MS', async () => {
    const prepared = await prepareDatabase(sqlite);
    const gateway = await startProcess({ DATABASE_URL: prepared.url, SHUTDOWN_GRACE_MS: '2000' });
    const headers = { authorization: `Bearer ${prepared.key}` };
    for (let use = 0; use < 3; use++) expect((await send(`${gateway.url}/v1/pets/1`, { headers })).status).toBe(404);
    await sendHalf(gateway.url, prepared.key, 'never sent');
    gateway.child.kill('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    expect((await prepared.keys.list())[0]?.lastUsedAt).not.toBeNull();
    const uses: { uses: number }[] = await prepared.database.knex('deprecated_use').select('uses');
    expect(uses.map((row) => Number(row.uses))).toEqual([3]);
  });

  test('a greeting that fails does not end it', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'data/petstore.sqlite'); // a newcomer's
    await migrateUp(await openDatabase(`sqlite:${path}`));
    const other = new DatabaseSync(path);
    afterFile(() => other.close());
    other.exec('BEGIN IMMEDIATE'); // nobody else can write
    const gateway = await startProcess({ MIGRATE_ON_START: 'false' }, folder);
    await gateway.waitFor(/the greeting could not be given/);
    expect((await send(`${gateway.url}/livez`)).status).toBe(200);
    gateway.child.kill('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });
});
