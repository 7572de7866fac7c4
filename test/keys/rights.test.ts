import { expect, test } from 'vitest';
import { createKeyStore } from '../../src/gateway/keys/key-store.ts';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { describeEachEngine } from '../support/engines.ts';
import { eventually } from '../support/load.ts';
import { prepareDatabase } from '../support/prepared.ts';

const DAY_MS = 86_400_000;

describeEachEngine('API keys › rotation', (engine) => {
  test('the new key has the name, the rights and the lifetime; the old one ends after the grace', async () => {
    const { keys } = await prepareDatabase(engine);
    const expiresAt = new Date(Date.now() + 90 * DAY_MS);
    const { id } = await keys.create({ name: 'app', expiresAt, readOnly: true });
    const before = Date.now();
    const rotation = await keys.rotate(id as Int64, DAY_MS); // the database's own id
    const after = Date.now();
    const all = await keys.list();
    const [old, fresh] = [all.find((key) => key.id === id), all.find((key) => key.id === rotation?.created?.id)];
    expect(fresh).toMatchObject({ name: 'app', readOnly: true, revokedAt: null });
    expect((fresh?.expiresAt?.getTime() ?? 0) - after).toBeGreaterThan(89.9 * DAY_MS);
    expect(old?.expiresAt?.getTime()).toBeGreaterThanOrEqual(before + DAY_MS);
    expect(old?.expiresAt?.getTime()).toBeLessThanOrEqual(after + DAY_MS);
    expect(old?.revokedAt).toBeNull();
  });

  test('an old key that ends before the grace does so all the same; one without an end is followed by one', async () => {
    const { keys } = await prepareDatabase(engine);
    const expiresAt = new Date(Date.now() + 60_000);
    const short = await keys.create({ name: 'short', expiresAt });
    const forever = await keys.create({ name: 'forever', expiresAt: null });
    const endsAt = (await keys.rotate(short.id as Int64, DAY_MS))?.endsAt.getTime() ?? 0; // the database's own ids, as below
    expect(Math.abs(endsAt - expiresAt.getTime())).toBeLessThan(10_000); // by the database's clock
    expect((await keys.rotate(forever.id as Int64, DAY_MS))?.created?.expiresAt).toBeNull();
  });

  test.each([
    ['without an end', null],
    ['of 90 days', 90 * DAY_MS],
  ])('a key %s that is rotated twice is followed by two of its lifetime', async (_which, lifetimeMs) => {
    const { keys } = await prepareDatabase(engine);
    const begunAt = Date.now();
    const { id } = await keys.create({
      name: 'app',
      expiresAt: lifetimeMs === null ? null : new Date(begunAt + lifetimeMs),
    });
    for (let count = 0; count < 2; count++) {
      const rotation = await keys.rotate(id as Int64, DAY_MS); // the database's own id
      const expiresAt = rotation?.created?.expiresAt;
      if (lifetimeMs === null) expect(expiresAt).toBeNull();
      else expect(expiresAt?.getTime()).toBeGreaterThan(begunAt + lifetimeMs - 60_000);
    }
  });

  test('without a grace the old key ends at once, and is followed all the same', async () => {
    const { keys } = await prepareDatabase(engine);
    const { id } = await keys.create({ name: 'app', expiresAt: null });
    const rotation = await keys.rotate(id as Int64, 0); // the database's own id
    expect(rotation?.created).toBeDefined();
    expect(rotation?.endsAt.getTime()).toBeLessThan(Date.now() + 60_000);
  });

  test('a revoked or expired key is not rotated, and no key is none', async () => {
    const { keys } = await prepareDatabase(engine);
    const revoked = await keys.create({ name: 'revoked', expiresAt: null });
    await keys.revoke(revoked.id as Int64); // the database's own ids, as below
    const expired = await keys.create({ name: 'expired', expiresAt: new Date(Date.now() - 1) });
    const count = await keys.count();
    for (const { id } of [revoked, expired]) {
      expect(await keys.rotate(id as Int64, DAY_MS)).toMatchObject({ created: undefined });
    }
    expect(await keys.rotate('987654321' as Int64, DAY_MS)).toBeUndefined(); // canonical digits are one
    expect(await keys.count()).toBe(count);
  });

  test.runIf(engine.name === 'mysql')('a key that another process is revoking is not rotated', async () => {
    const { database } = await prepareDatabase(engine);
    const patient = database.forLongWork(); // a machine that is held up takes longer to look than a request waits for a lock
    const keys = createKeyStore(patient);
    const { id } = await keys.create({ name: 'app', expiresAt: null });
    const other = await database.knex.transaction();
    await other('api_keys').where({ id }).update({ revoked_at: Date.now() });
    const rotation = keys.rotate(id as Int64, DAY_MS); // the database's own id
    const waiting = `SELECT id FROM information_schema.processlist
      WHERE db = DATABASE() AND id <> CONNECTION_ID() AND info LIKE '%api_keys%'`;
    await eventually(async () => (await database.knex.raw(waiting))[0].length > 0, 30_000, 'it waits for the other');
    await other.commit();
    expect(await rotation).toMatchObject({ created: undefined });
    await patient.close();
  });
});
