import { fieldPicker, type Kept, type Table } from '../database/table.ts';
import type { Int64 } from '../int64.ts';

/** Every availability status, in the order of the API description. */
export const PET_STATUSES = ['available', 'pending', 'sold'] as const;

/** An animal's availability: PetStatus of the API description. */
export type PetStatus = (typeof PET_STATUSES)[number];

/** An animal as it is added. */
export interface NewPet {
  /** Any well-formed Unicode text, the empty one too; kept byte for byte. */
  readonly name: string;
  readonly categoryId: Int64;
  /** Absent, or null, stays absent: no default is made up. */
  readonly status?: PetStatus | null | undefined;
}

/** An animal as it is kept; ids ascend on one server, but are neither dense nor small. */
export type Pet = Kept<NewPet>;

/** THE list of an animal's fields: columns, lists, inserts and the comparison of retries are made from it. */
export const PETS = {
  name: 'pets',
  fields: {
    name: { column: 'name', kind: 'text' },
    categoryId: { column: 'category_id', kind: 'int64' },
    status: { column: 'status', kind: 'text', index: 'pets_status_id' },
  },
} as const satisfies Table<NewPet>;

/** What of an input is an animal: its fields and nothing else. */
export const pickPet = fieldPicker<NewPet>(PETS);

/**
 * An animal to add as a list that is equal for equal animals only. The first three fields stand by their place, as the
 * first version wrote them; later ones by name and only when they are there, so that kept records stay valid.
 */
export function canonicalPet(newPet: NewPet): unknown[] {
  const [name, categoryId, status, ...later] = Object.entries(pickPet(newPet));
  return [...[name, categoryId, status].map((first) => first?.[1]), ...later.filter(([, value]) => value !== null)];
}

/** A name is text that UTF-8 can carry: a lone surrogate (half a character) cannot be stored byte for byte. */
export function isPetName(name: string): boolean {
  return name.isWellFormed();
}
