/** The animals that the benchmark puts into the table, and what each question about them must be answered. */

export const PETS_COUNT = 100_000;
export const STATUSES = ['available', 'pending', 'sold'] as const;
export type Status = (typeof STATUSES)[number];

/** An animal; 64-bit integers as decimal text. */
export interface Pet {
  readonly id: string;
  readonly name: string;
  readonly categoryId: string;
  readonly status: Status | null;
}

/** One question to a server, whichever api it goes to. */
export type Question =
  | { readonly kind: 'list'; readonly limit: number; readonly status: Status; readonly after: number }
  | { readonly kind: 'get'; readonly id: number }
  | { readonly kind: 'create'; readonly pet: Pet };

/** Animals of an answer; `hasMore` tells that a list goes on. */
export interface Answer {
  readonly pets: readonly Pet[];
  readonly hasMore: boolean;
}

const NAMES = ['Bella', 'Luna', 'Rio', 'Nemo', 'Hazel', 'Zoé', '"Max"', '小白'] as const;

/** The animal of `id`, from 1 to PETS_COUNT. One in 16 has a category that a double cannot hold. */
export function seededPet(id: number): Pet {
  return {
    id: String(id),
    name: `${NAMES[id % NAMES.length]} ${id}`,
    categoryId: id % 16 === 0 ? String(2n ** 53n + BigInt(id * 2 + 1)) : String((id % 50) + 1),
    status: STATUSES[(id * 7) % 10] ?? null, // three in ten have one: a filter must pass over rows
  };
}

/** What `question` must be answered; the id of a new animal is the server's to choose and left empty. */
export function expectedAnswer(question: Question): Answer {
  if (question.kind === 'get') return { pets: [seededPet(question.id)], hasMore: false };
  if (question.kind === 'create') return { pets: [{ ...question.pet, id: '' }], hasMore: false };
  const pets: Pet[] = [];
  for (let id = question.after + 1; id <= PETS_COUNT && pets.length < question.limit; id++) {
    const pet = seededPet(id);
    if (pet.status === question.status) pets.push(pet);
  }
  return { pets, hasMore: true }; // no workload asks for a last page
}
