import type { Ask } from '../database/batching/together.ts';
import type { Database } from '../database/connect.ts';
import { createKeysetList, createRowReader, type Page, type PageQuery } from '../database/keyset-list.ts';
import { createRowAdder } from '../database/row-adder.ts';
import { type FilterName, insertList, rowWriter } from '../database/table.ts';
import type { Deadline } from '../deadline.ts';
import { createIdempotentCreates, type Once } from '../idempotency/idempotent-creates.ts';
import type { Int64 } from '../int64.ts';
import { canonicalPet, type NewPet, PETS, type Pet, pickPet } from './pet.ts';

/** Which animals a list asks for. */
export type PetsQuery = PageQuery<NewPet, FilterName<typeof PETS>>;

/** The animals in the database. Every function is DatabaseFault `unavailable` when the database is away, or at its deadline. */
export interface PetStore {
  listPets: Ask<PetsQuery, Page<Pet>>;
  getPet: Ask<Int64, Pet | null>;
  /** Adds an animal; with `once`, a retry gets the animal of the first request (see `IdempotentCreates`). */
  addPet(newPet: NewPet, once: Once | null, deadline: Deadline): Promise<{ pet: Pet; replayed: boolean }>;
  /** Adds many at once, all or none. */
  addPets(newPets: readonly NewPet[]): Promise<void>;
  isEmpty(): Promise<boolean>;
  /** Takes away what no retry can ask for any more. */
  sweep(): Promise<void>;
}

/** The animals of this database; one for each process, for requests meet in it. */
export function createPetStore(database: Database): PetStore {
  const adder = createRowAdder<NewPet>(database, PETS);
  const creates = createIdempotentCreates<NewPet>(database, {
    operation: null,
    canonical: canonicalPet,
    create: adder.addWithin,
    bytesOf: adder.bytesOf,
  });
  return {
    listPets: createKeysetList<NewPet, typeof PETS>(database, PETS),
    getPet: createRowReader<NewPet>(database, PETS),

    async addPet(newPet, once, deadline) {
      const { id, replayed } = once
        ? await creates.createOnce(once, newPet, deadline)
        : { id: await adder.add(newPet, deadline), replayed: false };
      return { pet: { id, ...pickPet(newPet) }, replayed };
    },

    async addPets(newPets) {
      await database.insert(insertList<NewPet>(PETS), newPets.map(rowWriter<NewPet>(PETS)));
    },

    async isEmpty() {
      return (await database.run((knex) => knex(PETS.name).first('id'))) === undefined;
    },

    sweep: creates.sweep,
  };
}
