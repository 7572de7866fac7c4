import { describe, expect, test } from 'vitest';
import type { Database } from '../../src/gateway/database/connect.ts';
import { createRowChanger, createStores } from '../../src/gateway/store/store.ts';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';
import { type Int64, parseInt64, toInt64 } from '../../src/lib/exact-json/exact-json.ts';
import { PETS } from '../../src/petstore/pets/pet.ts';
import { describeEachEngine } from '../support/engines.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { watchStatements } from '../support/statements.ts';

const BIG = parseInt64('9007199254740993') as Int64;
const REX = { name: 'Rex', categoryId: toInt64(1), status: 'sold' } as const;

describeEachEngine('a row', (engine) => {
  const start = async () => {
    const { database } = await prepareDatabase(engine);
    const pets = createStores(database)(PETS);
    const add = async (pet: Parameters<typeof pets.add>[0]) =>
      toInt64((await pets.add(pet, null, deadlineIn(60_000))).row.id);
    return { database, pets, add, rex: await add(REX), ann: await add({ ...REX, name: 'Ann' }) };
  };

  test('has the values that are given, to the digit and the byte, and all others stay', async () => {
    const { pets, rex, ann } = await start();
    const changes = { categoryId: BIG, name: `'"\\ \0 🐢 e\u0301 ?` };
    const pet = await pets.update(rex, changes, deadlineIn(60_000));
    expect({ ...pet, id: String(pet?.id) }).toEqual({ ...REX, ...changes, id: rex });
    expect(await pets.get(ann, deadlineIn(60_000))).toMatchObject({ name: 'Ann', status: 'sold' });
  });

  test('is asked no statement for nothing, and what is not there is null', async () => {
    const { database, pets, rex } = await start();
    const sent: string[] = [];
    watchStatements(database, (sql) => sent.push(sql));
    await pets.update(rex, { name: null, status: undefined }, deadlineIn(60_000));
    expect(sent.filter((sql) => !/^\s*select\b/i.test(sql))).toEqual([]);
    expect(await pets.update(BIG, { name: 'Ann' }, deadlineIn(60_000))).toBeNull();
    expect(await pets.remove(BIG, deadlineIn(60_000))).toBeNull();
  });

  test('is removed by one of many', async () => {
    const { pets, rex, ann } = await start();
    const removed = await Promise.all(Array.from({ length: 8 }, () => pets.remove(rex, deadlineIn(60_000))));
    expect(removed.filter((pet) => pet !== null)).toMatchObject([{ name: 'Rex' }]);
    expect(await pets.get(rex, deadlineIn(60_000))).toBeNull();
    expect(await pets.get(ann, deadlineIn(60_000))).not.toBeNull();
  });
});

describe('what is sent to change a row', () => {
  /** The changer on a database that takes small packets, with the options of each statement. */
  const createPets = () => {
    const sent: unknown[] = [];
    const run = async (_work: unknown, options: unknown) => sent.push(options);
    return { changer: createRowChanger({ packetBytes: () => 1024, run } as unknown as Database, PETS), sent }; // all that it asks of one
  };

  test('may be sent twice when it sets values, and not when it removes; both end at the deadline', async () => {
    const { changer, sent } = createPets();
    await changer.change(BIG, { name: 'Rex' }, 7);
    await changer.remove(BIG, 8);
    expect(sent).toEqual([{ idempotent: true, deadline: 7 }, { deadline: 8 }]);
  });

  test('is refused when it is larger than a packet', async () => {
    const { changer, sent } = createPets();
    await expect(changer.change(BIG, { name: '€'.repeat(300) }, 7)).rejects.toMatchObject({ meaning: 'tooLarge' });
    await changer.change(BIG, { name: '€'.repeat(200) }, 7);
    expect(sent).toHaveLength(1);
  });
});
