import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../errors.ts';
import type { Once } from '../pets/idempotency.ts';
import type { PetStore } from '../pets/pet-store.ts';

/** What a resolver tells its face about the answer, beside the data: facts that only HTTP can carry. */
export interface Reply {
  /** Whether more animals follow the listed ones. */
  hasMore?: boolean;
  /** Whether an Idempotency-Key brought back the answer of an earlier request. */
  replayed?: boolean;
}

/** What every resolver gets, made anew for each request. */
export interface Context {
  readonly pets: PetStore;
  readonly reply: Reply;
  /**
   * The name under which the next animal of this request is to be added once; null for a request without an
   * Idempotency-Key. ApiError `bad_request` when the key is not allowed.
   */
  nextOnce(): Once | null;
}

/** The context of one request of the key `apiKeyId`, whichever face it came to. */
export function createContext(pets: PetStore, apiKeyId: string, headers: IncomingHttpHeaders): Context {
  const idempotencyKey = headers['idempotency-key']?.toString();
  let position = 0;
  return {
    pets,
    reply: {},
    nextOnce() {
      if (idempotencyKey === undefined) return null;
      if (!/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) {
        throw new ApiError('bad_request', 'The header Idempotency-Key must be 1 to 255 visible ASCII characters.');
      }
      return { apiKeyId, idempotencyKey, position: ++position };
    },
  };
}
