import { expect, test } from 'vitest';
import { describeOnMysql } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { RETRY_LATE } from '../support/stall-clock.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const AWAY_MS = 400;

describeOnMysql('a distant database', (engine) => {
  test('all is served, and the gateway is ready', { ...RETRY_LATE, timeout: 120_000 }, async () => {
    const { url } = await prepareDatabase(engine);
    const proxy = await startTcpProxy(url);
    proxy.delayAnswers(AWAY_MS);
    const gateway = await startGateway(engine, { DATABASE_URL: proxy.url });
    const status = async (path: string) => (await gateway.request(path)).status;
    const create = async (headers: Record<string, string> = {}) =>
      (await gateway.createPet({ name: 'Rex', categoryId: 1 }, headers)).status;
    const createOnce = () => create({ 'idempotency-key': crypto.randomUUID() });
    // The first connection is a second's work at this distance.
    await eventually(async () => (await status('/v1/pets')) === 200, 30_000, 'a connection is open');
    const answered: string[] = [];
    for (let round = 1; round <= 2; round++) {
      answered.push(`${await createOnce()} a create with a key`);
      for (const one of await Promise.all([createOnce(), createOnce(), createOnce()])) answered.push(`${one} of three`);
      answered.push(`${await create()} a create`);
      answered.push(`${await status('/readyz')} readiness`);
      answered.push(`${await status('/v1/pets/1')} a get`);
    }
    const unserved = answered.filter((one) => !/^20[01] /.test(one));
    const lost = unserved.filter((one) => !one.startsWith('503 '));
    expect(lost, 'lost').toEqual([]);
    expect(unserved, 'late').toEqual([]);
    await gateway.close();
  });
});
