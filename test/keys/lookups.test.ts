import { expect, it, test } from 'vitest';
import { describeEachEngine } from '../support/engines.ts';
import { gatewayOf, type TestGateway } from '../support/gateway.ts';
import { watchStatements } from '../support/statements.ts';

/** A key that is older than this, in ms, is looked up again beside the request that brings it. */
const KEY_REFRESH_MS = 2000;

/** The statements on `api_keys` that `work` makes the gateway send. */
async function keyStatements({ database }: TestGateway, work: () => Promise<unknown>): Promise<string[]> {
  const statements: string[] = [];
  watchStatements(database, (sql) => {
    if (sql.includes('api_keys')) statements.push(sql);
  });
  await work();
  return [...statements]; // without those of what comes later
}

const ask = ({ url }: TestGateway, authorization: string) =>
  fetch(`${url}/v1/pets?limit=1`, { headers: { authorization } });

describeEachEngine('API keys › lookups', (engine) => {
  const gateway = gatewayOf(engine);

  it.each([
    ['a wrong last character', (key: string) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')],
    ['a key of another service', () => `ghp_${'a'.repeat(36)}`],
  ])('%s is refused without asking the database', async (_what, alter) => {
    const statements = await keyStatements(gateway, async () => {
      for (let round = 0; round < 5; round++) {
        expect((await ask(gateway, `Bearer ${alter(gateway.key)}`)).status).toBe(401);
      }
    });
    expect(statements).toEqual([]);
  });

  test('a known key is looked up once for many requests at once, and not again right after', async () => {
    const { key } = await gateway.keys.create({ name: 'new', expiresAt: null });
    const startedAt = performance.now();
    const statements = await keyStatements(gateway, async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, () => ask(gateway, `Bearer ${key}`)));
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      expect((await ask(gateway, `Bearer ${key}`)).status).toBe(200);
    });
    const refreshes = Math.floor((performance.now() - startedAt) / KEY_REFRESH_MS);
    expect(statements.length).toBeGreaterThan(0);
    expect(statements.length).toBeLessThanOrEqual(1 + refreshes);
  });
});
