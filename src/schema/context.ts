import type { IncomingHttpHeaders } from 'node:http';
import type { Deadline } from '../deadline.ts';
import { ApiError } from '../errors.ts';
import type { Once } from '../idempotency/idempotent-creates.ts';
import type { PetStore } from '../pets/pet-store.ts';

/** What the resolvers read and write: the store of each resource, by its name. */
export interface Stores {
  readonly pets: PetStore;
}

/** What a resolver tells its API about the answer, beside the data: facts that only HTTP can carry. */
export interface Reply {
  /** Whether more follow what was listed. */
  hasMore?: boolean;
  /** Whether an Idempotency-Key brought back the answer of an earlier request. */
  replayed?: boolean;
}

/** The API key that a request came with. */
export interface Caller {
  readonly keyId: string;
  /** False for a read-only key. */
  readonly mayWrite: boolean;
}

/** What an Idempotency-Key must be. */
export const IDEMPOTENCY_KEY = {
  most: 255,
  pattern: /^[\x21-\x7e]+$/,
  message: 'The header Idempotency-Key must be 1 to 255 visible ASCII characters.',
};

/** What every resolver gets, made anew for each request. */
export interface Context {
  readonly stores: Stores;
  readonly reply: Reply;
  readonly caller: Caller;
  /** When this request must have its answer. */
  readonly deadline: Deadline;
  /**
   * The name under which the next write of this request is to be done once; null for a request without an
   * Idempotency-Key. ApiError `bad_request` when the key is not allowed.
   */
  nextOnce(): Once | null;
}

/** The context of one request, whichever API it came to. */
export function createContext(
  stores: Stores,
  caller: Caller,
  headers: IncomingHttpHeaders,
  deadline: Deadline,
): Context {
  const idempotencyKey = headers['idempotency-key']?.toString();
  let position = 0;
  return {
    stores,
    reply: {},
    caller,
    deadline,
    nextOnce() {
      if (idempotencyKey === undefined) return null;
      const { most, pattern, message } = IDEMPOTENCY_KEY;
      if (idempotencyKey.length > most || !pattern.test(idempotencyKey)) throw new ApiError('bad_request', message);
      return { apiKeyId: caller.keyId, idempotencyKey, position: ++position };
    },
  };
}

/** The one rule of rights: what changes something needs a key that may. Throws ApiError `forbidden`. */
export function requireWrite({ mayWrite }: Caller): void {
  if (!mayWrite) throw new ApiError('forbidden', 'This API key may only read.');
}
