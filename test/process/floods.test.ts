import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createStores } from '../../src/gateway/store/store.ts';
import { PETS } from '../../src/petstore/pets/pet.ts';
import { describeEachEngine } from '../support/engines.ts';
import { connectClient } from '../support/load.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { startProcess } from '../support/process.ts';
import { FLOODS, startFlood } from './flood-process.ts';

const PAUSE_MS = 5;
const WARM_UP_MS = 800;
const MEASURED_MS = 2000;
/** Polite p99 under a flood, by its p99 alone. */
const SLOWER_AT_MOST = 10;
/** The slowest of all, which a p99 leaves out, in ms: more than a pause of a machine, and less than a request that nobody serves. */
const SLOWEST_AT_MOST_MS = 4000;
const RIGHT_AT_LEAST = 0.95;
/** A p99 alone of less, in ms, is the luck of a moment when the machine had nothing else to do. */
const ALONE_LEAST_MS = 10;

describeEachEngine('a flood of one key', (engine) => {
  test('leaves another key its answers, and slows it ten times at most', async () => {
    const { url: DATABASE_URL, database, keys, key } = await prepareDatabase(engine);
    const pets = createStores(database)(PETS);
    const statuses = ['available', 'pending', 'sold'] as const;
    for (let thousand = 0; thousand < 3; thousand++) {
      const animal = (_: unknown, index: number) => ({
        name: `Animal ${index}`,
        categoryId: '1' as never,
        status: statuses[index % 3] ?? null,
      });
      await pets.addAll(Array.from({ length: 1000 }, animal));
    }
    const { key: flooding } = await keys.create({ name: 'flooding', expiresAt: null });
    const { url } = await startProcess({ DATABASE_URL });
    const polite = connectClient(url, key);

    const measure = async (ms: number) => {
      const answers: { right: boolean; ms: number }[] = [];
      for (const end = performance.now() + ms; performance.now() < end; await delay(PAUSE_MS)) {
        const answer = await polite.ask('GET', '/v1/pets?limit=20');
        answers.push({ right: answer.status === 200, ms: answer.ms });
      }
      const sorted = answers.map((answer) => answer.ms).sort((a, b) => a - b);
      const right = answers.filter((answer) => answer.right).length / answers.length;
      return { right, p99: sorted[Math.floor((sorted.length - 1) * 0.99)] ?? 0, slowest: sorted.at(-1) ?? 0 };
    };

    const measureUnder = async (kind: string, connections: number) => {
      const before = await measure(WARM_UP_MS);
      const stop = await startFlood(url, flooding, kind, connections);
      await delay(WARM_UP_MS);
      const under = await measure(MEASURED_MS);
      await stop();
      const after = await measure(WARM_UP_MS);
      const alone = Math.max(before.p99, after.p99, ALONE_LEAST_MS);
      const { right, slowest } = under;
      return { right, slowest, slower: under.p99 / alone, told: `${kind}: p99 ${under.p99} ms, alone ${alone} ms` };
    };

    await measure(WARM_UP_MS);
    for (const [kind, connections] of FLOODS) {
      let result = await measureUnder(kind, connections);
      // Whatever else the machine does may hit one measurement; a flood that is not held off is seen in each.
      const isHeldOff = () =>
        result.right >= RIGHT_AT_LEAST && result.slower <= SLOWER_AT_MOST && result.slowest <= SLOWEST_AT_MOST_MS;
      for (let again = 0; again < 4 && !isHeldOff(); again++) result = await measureUnder(kind, connections);
      expect.soft(result.right, `${kind}: right answers`).toBeGreaterThanOrEqual(RIGHT_AT_LEAST);
      expect.soft(result.slower, result.told).toBeLessThanOrEqual(SLOWER_AT_MOST);
      expect.soft(result.slowest, `${kind}: the slowest`).toBeLessThanOrEqual(SLOWEST_AT_MOST_MS);
    }
  }, 240_000);
});
