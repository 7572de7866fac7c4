import { expect, test } from 'vitest';
import { connectDatabase } from '../../src/gateway/database/connect.ts';
import { createKeyStore } from '../../src/gateway/keys/key-store.ts';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { describeEachEngine, describeOnMysql } from '../support/engines.ts';
import { isLateFault, prepareDatabase } from '../support/prepared.ts';

const ROUNDS = 25;

describeEachEngine('a key that is rotated by several at once, without grace', (engine) => {
  test('has one successor: whoever comes later finds it expired', async () => {
    const { database, url } = await prepareDatabase(engine);
    const others = await Promise.all([0, 1].map(() => connectDatabase({ databaseUrl: url, databasePoolMax: 2 })));
    const [first, ...stores] = [database, ...others].map(createKeyStore);
    const successors: number[] = [];
    let refused = 0; // of a machine that was held up: one that waited two seconds for the others has done nothing
    for (let round = 0; round < ROUNDS; round++) {
      const { id = '' } = (await first?.create({ name: `key ${round}`, expiresAt: null })) ?? {};
      const rotations = await Promise.allSettled([first, ...stores].map((store) => store?.rotate(id as Int64, 0)));
      for (const rotation of rotations) {
        if (rotation.status === 'fulfilled') continue;
        expect(isLateFault(rotation.reason), String(rotation.reason)).toBe(true);
        refused++;
      }
      successors.push(
        rotations.filter((rotation) => rotation.status === 'fulfilled' && rotation.value?.created).length,
      );
      const old = (await first?.list())?.find((key) => key.id === id);
      expect(old?.expiresAt?.getTime()).toBeLessThanOrEqual(Date.now());
    }
    await Promise.all(others.map((other) => other.close()));
    expect(successors).toEqual(Array(ROUNDS).fill(1));
    expect(refused).toBeLessThan(ROUNDS);
  });
});

describeOnMysql('a key that is rotated twice in the same millisecond, without grace', (engine) => {
  test('has one successor, too', async () => {
    const { url } = await prepareDatabase(engine);
    const database = await connectDatabase({ databaseUrl: url, databasePoolMax: 1 });
    const keys = createKeyStore(database);
    await database.knex.raw('SET timestamp = UNIX_TIMESTAMP()'); // the clock of its only connection stands
    const { id } = await keys.create({ name: 'key', expiresAt: null });
    const [first, second] = [await keys.rotate(id as Int64, 0), await keys.rotate(id as Int64, 0)];
    await database.close();
    expect(first?.created).toBeDefined();
    expect(first?.endsAt).toEqual(second?.endsAt);
    expect(second?.created).toBeUndefined();
  });
});
