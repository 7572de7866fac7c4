import { expect, test } from 'vitest';
import { migrateDown, migrateUp } from '../../src/gateway/database/migrations.ts';
import { describeEachEngine } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';
import { openDatabase } from '../support/prepared.ts';

describeEachEngine('/readyz', (engine) => {
  test('says 503 when the migrations are taken back under way, and 200 once they are done again', async () => {
    const url = await engine.freshDatabase();
    const { request } = await startGateway(engine, { DATABASE_URL: url });
    const other = await openDatabase(url);
    const isReady = async () => (await request('/readyz')).status === 200;
    expect(await isReady()).toBe(true);
    await migrateDown(other);
    await eventually(async () => !(await isReady()), 10_000, 'nobody is sent here');
    expect((await request('/readyz')).json.message).toContain('Migrations are pending');
    await migrateUp(other);
    await eventually(isReady, 10_000, 'it is ready again');
  });
});
