import { defineTable, type NewRow, type StoredRow } from '../../gateway/store/table.ts';

/** Every availability status, in the order of the API description. */
export const PET_STATUSES = ['available', 'pending', 'sold'] as const;

/** An animal's availability: PetStatus of the API description. */
export type PetStatus = (typeof PET_STATUSES)[number];

/** THE list of an animal's fields. */
export const PETS = defineTable('pets', {
  name: { kind: 'text' },
  categoryId: { kind: 'int64' },
  status: { kind: 'word', words: PET_STATUSES, optional: true, filter: true },
});

/** What examples and REST ask of an animal: all that it has. */
export const PET_SELECTION: readonly string[] = ['id', ...Object.keys(PETS.fields)];

/** An animal to add; `status` has no default. */
export type NewPet = NewRow<typeof PETS>;

/** A stored animal. Ids may be large, and may have gaps. */
export type Pet = StoredRow<typeof PETS>;
