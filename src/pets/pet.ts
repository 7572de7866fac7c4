import type { Int64, Integer64 } from '../int64.ts';

/** Every availability status, in the order of the API description. */
export const PET_STATUSES = ['available', 'pending', 'sold'] as const;

/** An animal's availability: PetStatus of the API description. */
export type PetStatus = (typeof PET_STATUSES)[number];

/** An animal as it is added. */
export interface NewPet {
  /** Any well-formed Unicode text, the empty one too; kept byte for byte. */
  readonly name: string;
  readonly categoryId: Int64;
  /** Absent stays absent: no default is made up. */
  readonly status: PetStatus | null;
}

/** An animal as it is kept. */
export interface Pet {
  /** Assigned on creation; ascending on one server, but neither dense nor small. */
  readonly id: Integer64;
  readonly name: string;
  readonly categoryId: Integer64;
  readonly status: PetStatus | null;
}

/** How many animals one list may have. */
export const LIST_LIMIT = { least: 1, most: 100, fallback: 20 } as const;

/** A name is text that UTF-8 can carry: a lone surrogate (half a character) cannot be stored byte for byte. */
export function isPetName(name: string): boolean {
  return name.isWellFormed();
}
