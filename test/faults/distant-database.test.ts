import { expect, test } from 'vitest';
import { describeOnMysql } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const AWAY_MS = 400;

describeOnMysql('a distant database', (engine) => {
  test('all is served, and the gateway is ready', { timeout: 120_000, retry: 2 }, async () => {
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
    for (let round = 1; round <= 2; round++) {
      expect(await createOnce(), 'a create with a key').toBe(201);
      expect(await Promise.all([createOnce(), createOnce(), createOnce()]), 'three at once').toEqual([201, 201, 201]);
      expect(await create(), 'a create').toBe(201);
      expect(await status('/readyz'), 'readiness').toBe(200);
      expect(await status('/v1/pets/1'), 'a get').toBe(200);
    }
    await gateway.close();
  });
});
