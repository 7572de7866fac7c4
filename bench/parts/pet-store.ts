import type { NewPet, PetRow, PetsQuery } from './pet-rules.ts';

/** What every comparison needs from the database, whichever library asks it. */
export interface PetStore {
  /** The animals that `query` asks for, and one more when there is one: it tells that a next page exists. */
  listPets(query: PetsQuery): Promise<PetRow[]>;
  getPet(id: bigint): Promise<PetRow | undefined>;
  addPet(newPet: NewPet): Promise<PetRow>;
  /** Whether a key with this SHA-256 exists and is neither revoked nor expired. */
  hasKey(hash: string): Promise<boolean>;
}

// MariaDB walks all earlier rows of a status on a filtered deep page unless the index is named. The comparisons
// get the hint as well: without it, the benchmark would measure the planner.
export const PETS_BY_STATUS = 'pets FORCE INDEX (pets_status_id)';
