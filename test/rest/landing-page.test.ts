import { describe, expect, test } from 'vitest';
import { SQLITE } from '../support/engines.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { prepareDatabase } from '../support/prepared.ts';

describe('the landing page', () => {
  const withClosedDatabase = async () => {
    const gateway = await startGateway(SQLITE);
    await gateway.database.close();
    return gateway;
  };
  const withPendingMigration = async () => {
    const { url: DATABASE_URL } = await prepareDatabase(SQLITE);
    const gateway = await startGateway(SQLITE, { DATABASE_URL, MIGRATE_ON_START: 'false' });
    const { knex } = gateway.database;
    const newest = await knex('knex_migrations').max({ id: 'id' }).first();
    await knex('knex_migrations').where({ id: newest?.id }).delete();
    return gateway;
  };

  test.each<[what: string, start: () => Promise<TestGateway>]>([
    ['a closed database', withClosedDatabase],
    ['a pending migration', withPendingMigration],
  ])('%s: it says what /readyz says', async (_what, start) => {
    const { url } = await start();
    const page = await fetch(url, { headers: { accept: 'text/html' } });
    const ready = await fetch(`${url}/readyz`);
    const { message } = (await ready.json()) as { message: string };
    expect([page.status, ready.status]).toEqual([200, 503]);
    expect(page.headers.get('vary')?.split(/, */)).toContain('Accept');
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await page.text()).toContain(`<li class="unready">Not ready. ${message}</li>`);
    const json = await fetch(url, { headers: { accept: 'application/json' } });
    expect(await json.json()).toMatchObject({ status: 'not ready' });
  });
});
