import { afterEach, expect, test, vi } from 'vitest';
import { createRecords } from '../../src/gateway/idempotency/idempotency-records.ts';
import { hashApiKey } from '../../src/gateway/keys/api-key.ts';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { describeEachEngine } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { prepareDatabase } from '../support/prepared.ts';

const PET = { name: 'Rex', categoryId: 1 };
const HOUR_MS = 3_600_000;
const AHEAD_MS = 25 * HOUR_MS;

/** From now on the clock of this process is wrong, and that of the database is not. */
const setClock = (aheadMs: number) => {
  vi.useRealTimers();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + aheadMs });
};

afterEach(() => void vi.useRealTimers());

describeEachEngine('a gateway whose clock is wrong', (engine) => {
  test.each([AHEAD_MS, -AHEAD_MS])(
    'by %i ms: a retry gets the first answer, and is not cleaned up',
    async (aheadMs) => {
      const gateway = await startGateway(engine);
      const headers = { 'idempotency-key': 'a-key' };
      const first = await gateway.createPet(PET, headers);
      setClock(aheadMs);
      await createRecords(gateway.database).sweep();
      const retry = await gateway.createPet(PET, headers);
      expect([retry.text, retry.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
      // What it writes itself is as young to the others.
      const later = await gateway.createPet(PET, { 'idempotency-key': 'another' });
      vi.useRealTimers();
      await createRecords(gateway.database).sweep();
      expect((await gateway.createPet(PET, { 'idempotency-key': 'another' })).text).toBe(later.text);
      expect(await gateway.database.knex('pets').select('id')).toHaveLength(2);
    },
  );

  test('keys begin and end by the clock of the database', async () => {
    const { keys } = await startGateway(engine);
    const soon = await keys.create({ name: 'an hour', expiresAt: new Date(Date.now() + HOUR_MS) });
    for (const aheadMs of [AHEAD_MS, -AHEAD_MS]) {
      setClock(aheadMs);
      const found = await keys.findByHash(hashApiKey(soon.key));
      const leftMs = (found?.expiresAt?.getTime() ?? 0) - Date.now();
      expect(Math.abs(leftMs - HOUR_MS)).toBeLessThan(HOUR_MS / 2);
      const made = await keys.create({ name: 'here', expiresAt: new Date(Date.now() + HOUR_MS) });
      const rotated = await keys.rotate(soon.id as Int64, HOUR_MS); // the database's own id
      vi.useRealTimers();
      for (const { key } of [made, rotated?.created ?? expect.fail('it is valid, so it is followed')]) {
        const seen = await keys.findByHash(hashApiKey(key));
        expect(Math.abs((seen?.expiresAt?.getTime() ?? 0) - Date.now() - HOUR_MS)).toBeLessThan(HOUR_MS / 2);
      }
    }
  });

  test('a key is rotated for its whole lifetime, and counts as replaced, after the clock of the database was set back', async () => {
    const { keys, database } = await prepareDatabase(engine);
    const lifetimeMs = 90 * 24 * HOUR_MS;
    const { id } = await keys.create({ name: 'a quarter', expiresAt: new Date(Date.now() + lifetimeMs) });
    const { created } = (await keys.rotate(id as Int64, HOUR_MS)) ?? expect.fail('it is there');
    // As if the key had been made before the clock was set back by two hours, and rotated after it.
    await database
      .knex('api_keys')
      .where({ id })
      .increment('created_at', 2 * HOUR_MS);
    expect(await keys.countExpiring()).toBe(0);
    const again = await keys.rotate(created?.id as Int64, HOUR_MS);
    const leftMs = (again?.created?.expiresAt?.getTime() ?? 0) - Date.now();
    expect(Math.abs(leftMs - lifetimeMs)).toBeLessThan(HOUR_MS / 2);
  });
});
