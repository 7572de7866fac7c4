import { hash } from 'node:crypto';
import type { PetStore } from './pet-store.ts';

/** A key found in the database is believed this long, in ms. */
const KEY_CACHE_MS = 4000;

/** Whether an `Authorization` header holds a valid key: its SHA-256 is looked up, and remembered for a while. */
export function createBearerCheck(
  pets: Pick<PetStore, 'hasKey'>,
): (authorization: string | undefined) => Promise<boolean> {
  const foundAt = new Map<string, number>();
  return async (authorization) => {
    const [, key] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
    if (key === undefined) return false;
    const digest = hash('sha256', key, 'hex');
    const now = performance.now();
    if (now - (foundAt.get(digest) ?? Number.NEGATIVE_INFINITY) < KEY_CACHE_MS) return true;
    if (!(await pets.hasKey(digest))) return false;
    foundAt.set(digest, now);
    return true;
  };
}
