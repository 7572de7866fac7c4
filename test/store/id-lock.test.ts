import { setImmediate as turn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { ID_LOCK_MS } from '../../src/gateway/deadlines.ts';
import { createIdLock } from '../../src/gateway/store/row-adder.ts';
import { createStores } from '../../src/gateway/store/store.ts';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { PETS } from '../../src/petstore/pets/pet.ts';
import { describeEachEngine } from '../support/engines.ts';
import { isLateFault, prepareDatabase } from '../support/prepared.ts';
import { RETRY_LATE } from '../support/stall-clock.ts';

const CREATES = 2000;
const CLIENTS = 40;
type Nearness = Parameters<typeof createIdLock>[0];
const NEAR: Nearness = { connectionsMax: 10, roundTripMs: () => 0.2 };

/** The names of turns as they begin. */
function watchTurns(...parameters: Parameters<typeof createIdLock>) {
  const acquireIdLock = createIdLock(...parameters);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const begin = async (name: string) => {
    const end = await acquireIdLock();
    begun.push(name);
    ends.set(name, end);
  };
  return { begun, begin: (name: string) => void begin(name), end: (name: string) => ends.get(name)?.() };
}

test('near the database one takes ids after the other, in the order they came', async () => {
  const { begun, begin, end } = watchTurns(NEAR);
  for (const name of ['a', 'b', 'c']) begin(name);
  await turn();
  expect(begun).toEqual(['a']);
  end('a');
  await turn();
  expect(begun).toEqual(['a', 'b']);
  end('b');
  await turn();
  end('c');
  begin('d');
  await turn();
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
});

test('a turn has its second from its begin, however long it was waited for', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { begun, begin, end } = watchTurns(NEAR);
    for (const name of ['a', 'b', 'c']) begin(name);
    await turn();
    await vi.advanceTimersByTimeAsync(600);
    end('a');
    await turn();
    await vi.advanceTimersByTimeAsync(600);
    await turn();
    expect(begun).toEqual(['a', 'b']);
    await vi.advanceTimersByTimeAsync(400);
    await turn();
    expect(begun).toEqual(['a', 'b', 'c']);
  } finally {
    vi.useRealTimers();
  }
});

test.each<[string, Nearness]>([
  ['far from the database', { ...NEAR, roundTripMs: () => 2 }],
  ['on one connection', { ...NEAR, connectionsMax: 1 }],
])('%s nobody waits', async (_where, database) => {
  const { begun, begin } = watchTurns(database);
  for (const name of ['a', 'b', 'c']) begin(name);
  await turn();
  expect(begun).toEqual(['a', 'b', 'c']);
});

describeEachEngine('a reader that goes on from the last id it saw', (engine) => {
  test('misses no animal of one gateway, whether made with an Idempotency-Key or without', RETRY_LATE, async () => {
    const { database } = await prepareDatabase(engine);
    // As near as it is, whatever the machine has to do beside it.
    const pets = createStores({ ...database, roundTripMs: () => 0.2 })(PETS);
    let begun = 0;
    let isOver = false;
    let longestMs = 0;
    const client = async () => {
      for (let number = begun++; number < CREATES; number = begun++) {
        const once = { ownerId: '1', idempotencyKey: `key ${number}`, position: 1 };
        const pet = { name: `animal ${number}`, categoryId: '1' as Int64, status: null };
        const startedAt = performance.now();
        await pets.add(pet, number % 2 === 0 ? once : null, deadlineIn(60_000)).catch((error) => {
          begun = CREATES; // the others come to their end, too
          throw isLateFault(error) ? new Error('late', { cause: error }) : error;
        });
        longestMs = Math.max(longestMs, performance.now() - startedAt);
        for (let turns = number % 7; turns > 0; turns--) await turn(); // so that they mix
      }
    };
    const read = async () => {
      const seen: string[] = [];
      for (;;) {
        const wasOver = isOver;
        const after = (seen.at(-1) ?? null) as Int64 | null; // an id that the database gave
        const page = await pets.list({ limit: 100, after }, deadlineIn(60_000));
        seen.push(...page.map(({ id }) => String(id)));
        if (page.length === 0 && wasOver) return seen;
        await turn();
      }
    };
    const adding = Promise.all(Array.from({ length: CLIENTS }, client)).finally(() => {
      isOver = true;
    });
    const [found] = await Promise.all([read(), adding]);
    const seen = new Set(found);
    const ids: { id: unknown }[] = await database.knex('pets').select('id');
    expect(ids).toHaveLength(CREATES);
    // The id lock of a process that is held up so long is released before its time.
    const why = longestMs < ID_LOCK_MS ? 'missed' : 'late';
    expect(
      ids.filter(({ id }) => !seen.has(String(id))),
      why,
    ).toEqual([]);
  });
});
