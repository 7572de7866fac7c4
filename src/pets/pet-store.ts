import type { Knex } from 'knex';
import type { Database } from '../database/connect.ts';
import type { Int64 } from '../int64.ts';
import { createIdempotentWrites, type Once } from './idempotency.ts';
import type { NewPet, Pet } from './pet.ts';
import { createPetQueries, type PetsPage, type PetsQuery } from './pet-queries.ts';

/** The animals in the database. Every function is `service_unavailable` when the database is away. */
export interface PetStore {
  listPets(query: PetsQuery): Promise<PetsPage>;
  getPet(id: Int64): Promise<Pet | null>;
  /** Adds an animal; with `once`, a retry gets the animal of the first request (see `IdempotentWrites`). */
  addPet(newPet: NewPet, once: Once | null): Promise<{ pet: Pet; replayed: boolean }>;
  /** Adds many at once, all or none. */
  addPets(newPets: readonly NewPet[]): Promise<void>;
  isEmpty(): Promise<boolean>;
  /** Takes away what no retry can ask for any more. */
  sweep(): Promise<void>;
}

/** The animals of this database. */
export function createPetStore(database: Database): PetStore {
  const queries = createPetQueries(database);
  const idempotentWrites = createIdempotentWrites(database);
  return {
    listPets: queries.list,
    getPet: queries.get,

    async addPet({ name, categoryId, status }, once) {
      const newPet = { name, categoryId, status };
      const { id, replayed } = once
        ? await idempotentWrites.addOnce(once, newPet, (trx) => insertPet(trx, newPet))
        : { id: await queries.add(newPet), replayed: false };
      return { pet: { id, ...newPet }, replayed };
    },

    async addPets(newPets) {
      // Knex writes many rows for SQLite as one compound SELECT, which ends at 500 of them.
      const rows = newPets.map(({ categoryId }) => `(?, ${categoryId}, ?)`).join(', ');
      const bindings = newPets.flatMap(({ name, status }) => [name, status]);
      await database.run((knex) => knex.raw(`insert into pets (name, category_id, status) values ${rows}`, bindings));
    },

    async isEmpty() {
      return (await database.run((knex) => knex('pets').first('id'))) === undefined;
    },

    sweep: idempotentWrites.sweep,
  };
}

async function insertPet(knex: Knex, { name, categoryId, status }: NewPet): Promise<Int64> {
  // A literal of digits, as its type says: a number would round it, and a text is slower to compare and convert.
  const [id] = await knex('pets').insert({ name, category_id: knex.raw(categoryId), status });
  return String(id) as Int64; // the database's own AUTO_INCREMENT
}
