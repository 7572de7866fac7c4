import { expect, test } from 'vitest';
import { connectDatabase } from '../../src/gateway/database/connect.ts';
import { createKeyStore } from '../../src/gateway/keys/key-store.ts';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { describeEachEngine } from '../support/engines.ts';
import { prepareDatabase } from '../support/prepared.ts';

const ROUNDS = 25;

describeEachEngine('a key that is rotated by several at once, without grace', (engine) => {
  test('has one successor: whoever comes later finds it expired', async () => {
    const { database, url } = await prepareDatabase(engine);
    const others = await Promise.all([0, 1].map(() => connectDatabase({ databaseUrl: url, databasePoolMax: 2 })));
    const [first, ...stores] = [database, ...others].map(createKeyStore);
    const successors: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const { id = '' } = (await first?.create({ name: `key ${round}`, expiresAt: null })) ?? {};
      const rotations = await Promise.all([first, ...stores].map((store) => store?.rotate(id as Int64, 0)));
      successors.push(rotations.filter((rotation) => rotation?.created).length);
      const old = (await first?.list())?.find((key) => key.id === id);
      expect(old?.expiresAt?.getTime()).toBeLessThanOrEqual(Date.now());
    }
    await Promise.all(others.map((other) => other.close()));
    expect(successors).toEqual(Array(ROUNDS).fill(1));
  });
});
