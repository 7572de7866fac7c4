import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fieldEntries } from '../../src/database/table.ts';
import { deadlineIn } from '../../src/deadline.ts';
import type { Int64 } from '../../src/int64.ts';
import { canonicalPet, type NewPet, PETS } from '../../src/pets/pet.ts';
import { createPetStore } from '../../src/pets/pet-store.ts';
import { describeEachEngine } from '../support/engines.ts';
import { openDatabase, prepareDatabase } from '../support/prepared.ts';

const PET: NewPet = { name: 'Rex', categoryId: '1' as Int64, status: 'sold' };
const DAY_MS = 24 * 3_600_000;

const once = (idempotencyKey: string) => ({ apiKeyId: '1', idempotencyKey, position: 1 });
const sha256 = (parts: readonly unknown[]) => hash('sha256', JSON.stringify(parts), 'hex');
/** The record of `once(key)` and PET as the version before wrote it. */
const earlierRecord = (key: string, petId: number, ageMs = 0) => ({
  id: sha256(['1', key, '1']),
  input_hash: sha256([PET.name, PET.categoryId, PET.status]),
  pet_id: petId,
  created_at: Date.now() - ageMs,
});

// Every field that there is: a new one has its cases without a line here.
test.each(fieldEntries<NewPet>(PETS.fields))('two inputs that differ in %s are not the same', (name) => {
  for (const other of ['2', null]) {
    const changed = { ...PET, [name]: other };
    expect(sha256(canonicalPet(changed)), `canonicalPet in src/pets/pet.ts leaves out ${name}`).not.toBe(
      sha256(canonicalPet({ ...PET, [name]: '1' })),
    );
  }
});

test('two inputs are the same exactly when each of their fields is', () => {
  const names = fieldEntries<NewPet>(PETS.fields).map(([name]) => name);
  const newPet = fc.record(Object.fromEntries(names.map((name) => [name, fc.constantFrom('1', '2', null)])));
  fc.assert(
    fc.property(newPet, newPet, (one, other) => {
      const areEqual = names.every((name) => one[name] === other[name]);
      const hashes = [one, other].map((pet) => sha256(canonicalPet(pet as unknown as NewPet)));
      expect(hashes[0] === hashes[1]).toBe(areEqual);
    }),
  );
});

describeEachEngine('the records of idempotent creates', (engine) => {
  test('those of the version before, and of one beside this one, are replayed', async () => {
    const { database } = await prepareDatabase(engine);
    const pets = createPetStore(database);
    await database.knex('idempotency_keys').insert(earlierRecord('old', 4711));
    const { pet, replayed } = await pets.addPet(PET, once('old'), deadlineIn());
    expect([String(pet.id), replayed]).toEqual(['4711', true]);
    await expect(pets.addPet({ ...PET, name: 'Max' }, once('old'), deadlineIn())).rejects.toMatchObject({
      code: 'idempotency_mismatch',
    });
  });

  test('those of this version are what the version before looks for', async () => {
    const { database } = await prepareDatabase(engine);
    const { pet } = await createPetStore(database).addPet(PET, once('new'), deadlineIn());
    const { created_at: _, ...expected } = earlierRecord('new', Number(pet.id));
    const row = await database.knex('idempotency_keys').first('id', 'input_hash', 'pet_id');
    expect({ ...row, pet_id: Number(row.pet_id) }).toEqual(expected);
  });

  test('the clean-up leaves one that is renewed while it works', async () => {
    const { database, url } = await prepareDatabase(engine);
    const neighbour = createPetStore(openDatabase(url));
    await database.knex('idempotency_keys').insert(earlierRecord('renewed', 1, DAY_MS));
    let renewed: Promise<{ pet: { id: unknown } }> | undefined;
    const { run } = database;
    // Between the look and the DELETE, another process renews the record.
    const sweeping = createPetStore({
      ...database,
      run: async (work, options) => {
        const result = await run(work, options);
        renewed ??= neighbour.addPet(PET, once('renewed'), deadlineIn());
        await renewed;
        return result;
      },
    });
    await sweeping.sweep();
    const first = await renewed;
    const again = await neighbour.addPet(PET, once('renewed'), deadlineIn());
    expect([again.replayed, String(again.pet.id)]).toEqual([true, String(first?.pet.id)]);
  });

  test('creates with keys of their own never wait for each other', async () => {
    const { database } = await prepareDatabase(engine);
    const stores = [createPetStore(database), createPetStore(database)];
    const refused: unknown[] = [];
    database.knex.on('query-error', (error: unknown) => refused.push(error)); // a deadlock that is tried again, too
    const count = 400;
    const answers = await Promise.all(
      Array.from({ length: count }, (_, index) => stores[index % 2]?.addPet(PET, once(`key ${index}`), deadlineIn())),
    );
    expect(new Set(answers.map((answer) => answer?.pet.id)).size).toBe(count);
    expect(await database.knex('pets').select('id')).toHaveLength(count);
    expect(refused).toEqual([]);
  });
});
