import { expect, test } from 'vitest';
import { generateApiKey, hashApiKey } from '../../src/gateway/keys/api-key.ts';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { succeed } from '../cli/command.ts';
import { describeEachEngine } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { startProcess } from '../support/process.ts';

/** What CONTRACT promises, in ms. */
const REVOKED_WITHIN_MS = 5000;

/** Two clocks of a process, the one of dates and the one of durations, are hardly further apart than this. */
const CLOCKS_MS = 100;

/** Every request on a connection of its own, so that it may reach any worker. */
async function statusWith(url: string, key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, connection: 'close' };
  return (await fetch(`${url}/v1/pets?limit=1`, { headers })).status;
}

describeEachEngine('API keys › on several processes', (engine) => {
  test.concurrent('a key that is revoked elsewhere stops within five seconds in every worker, while it is in use', async () => {
    const { url: databaseUrl, key, keyId } = await prepareDatabase(engine);
    const env = { DATABASE_URL: databaseUrl, LOG_LEVEL: 'warn' };
    const gateway = await startProcess({ ...env, LOG_LEVEL: 'info', WORKERS: '2' });
    const other = await startGateway(engine, env);
    for (let round = 0; round < 10; round++) expect(await statusWith(gateway.url, key)).toBe(200);
    expect(await statusWith(other.url, key)).toBe(200);

    await succeed('keys', ['revoke', keyId], env);
    const revokedAt = performance.now();
    // It stays in use, as a leaked key would: only an end of success that lasts counts.
    let lastSuccess = revokedAt;
    await eventually(
      async () => {
        const askedAt = performance.now();
        const statuses = await Promise.all([statusWith(gateway.url, key), statusWith(other.url, key)]);
        // A look-up that is late is 503: neither a success nor a refusal of the key.
        expect(statuses.every((status) => [200, 401, 503].includes(status))).toBe(true);
        if (statuses.includes(200)) lastSuccess = askedAt;
        return performance.now() - lastSuccess > 1500 && statuses.every((status) => status === 401);
      },
      30_000,
      'the revoked key is refused everywhere',
    );
    expect(lastSuccess - revokedAt).toBeLessThan(REVOKED_WITHIN_MS);
  });

  test.concurrent('a key that is made elsewhere works at once, also when it was refused just before', async () => {
    const gateway = await startGateway(engine);
    const key = generateApiKey();
    expect(await statusWith(gateway.url, key)).toBe(401);
    const row = { name: 'made elsewhere', prefix: key.slice(0, 13), hash: hashApiKey(key), created_at: Date.now() };
    await gateway.database.knex('api_keys').insert(row);
    expect(await statusWith(gateway.url, key)).toBe(200);
  });

  test.concurrent('a key stops at the moment it expires, although it is remembered', { retry: 2 }, async () => {
    const gateway = await startGateway(engine);
    const expiresAt = new Date(Date.now() + 5000);
    const begunAt = Date.now();
    const { key } = await gateway.keys.create({ name: 'short-lived', expiresAt });
    const createdMs = Date.now() - begunAt;
    let goodAt = 0;
    let slowestMs = 0;
    const isRefused = async () => {
      const askedAt = Date.now();
      const status = await statusWith(gateway.url, key);
      slowestMs = Math.max(slowestMs, Date.now() - askedAt);
      if (status === 200) goodAt = askedAt;
      return status === 401;
    };
    await eventually(isRefused, 15_000, 'the key has expired');
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt.getTime());
    expect(goodAt).toBeGreaterThan(0);
    // It is cached for four seconds. The store knows its life in ms, which begins when the statement arrives, and a look-up
    // reads what is left of it: a slow answer makes both later.
    expect(goodAt).toBeLessThan(expiresAt.getTime() + createdMs + slowestMs + CLOCKS_MS);
  });

  test.concurrent('a key that is revoked twice keeps the first moment; an unknown one is told', {
    retry: 2,
  }, async () => {
    const gateway = await startGateway(engine);
    const { id } = await gateway.keys.create({ name: 'twice', expiresAt: null });
    const revokedAt = async () => (await gateway.keys.list()).find((key) => key.id === id)?.revokedAt;
    expect(await gateway.keys.revoke(id as Int64)).toBe(true); // the database's own id
    const first = await revokedAt();
    expect(first).toBeInstanceOf(Date);
    expect(await gateway.keys.revoke(id as Int64)).toBe(true); // as above
    expect(await revokedAt()).toEqual(first);
    expect(await gateway.keys.revoke('987654321' as Int64)).toBe(false); // canonical digits are one
  });
});
