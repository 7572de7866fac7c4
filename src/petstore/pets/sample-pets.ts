import { type Int64, int64FromJson } from '../../lib/exact-json/exact-json.ts';
import type { NewPet, PetStatus } from './pet.ts';

const CATEGORIES = ['Labrador', 'Siamese', 'Cockatiel', 'Clownfish', 'Hamster', 'Tortoise'] as const;
const NAMES = 'Bella Luna Rio Nemo Hazel Speedy Max Milo Kiwi Marlin Pepper Zoé'.split(' ');
const STATUSES: readonly (PetStatus | null)[] = ['available', 'available', 'pending', 'sold', null];

/** The sample animal number `index`, from 0. The same index always gives the same animal; some have no status. */
export function samplePet(index: number): NewPet {
  const category = index % CATEGORIES.length;
  const round = Math.floor(index / NAMES.length);
  const name = `${NAMES[index % NAMES.length]} the ${CATEGORIES[category]}${round === 0 ? '' : ` ${round + 1}`}`;
  return { name, categoryId: int64FromJson(category + 1) as Int64, status: STATUSES[index % STATUSES.length] ?? null }; // a small integer
}
