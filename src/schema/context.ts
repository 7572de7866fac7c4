import type { IncomingHttpHeaders } from 'node:http';
import type { Deadline } from '../deadline.ts';
import { ApiError } from '../errors.ts';
import type { Once } from '../idempotency/idempotent-creates.ts';
import { type Integer64, toInt64 } from '../int64.ts';
import type { Stores } from '../store/store.ts';
import type { New, PageQuery, StoredRow, Table } from '../store/table.ts';

/** What a resolver tells its API about the answer, beside the data: facts that only HTTP can carry. */
export interface Reply {
  /** Of the lists that were read, those that more follow. */
  readonly unfinished: unknown[];
  /** Whether an Idempotency-Key brought back the answer of an earlier request. */
  replayed: boolean;
}

/** The API key that a request came with. */
export interface Caller {
  readonly keyId: string;
  /** The same for a key and for those that replaced it. */
  readonly ownerId: string;
  /** False for a read-only key. */
  readonly mayWrite: boolean;
}

/** What an Idempotency-Key must be. */
export const IDEMPOTENCY_KEY = {
  most: 255,
  pattern: /^[\x21-\x7e]+$/,
  message: 'The header Idempotency-Key must be 1 to 255 visible ASCII characters.',
};

/** The things of a table, for one request: its deadline, its Idempotency-Key and its answer's headers are seen to. */
export interface RequestStore<T extends Table> {
  /** A page, by ascending id. */
  list(query: PageQuery<T>): Promise<readonly StoredRow<T>[]>;
  /** The thing of an id, or null; ids as they come in, and as a field of a thing has them. */
  get(id: Integer64): Promise<StoredRow<T> | null>;
  /** Adds a thing, for a field of Mutation; once under an Idempotency-Key. ApiError `bad_request` when that key is not allowed. */
  add(added: New<T>): Promise<StoredRow<T>>;
}

/** What every resolver gets, made anew for each request. */
export interface Context {
  store<T extends Table>(table: T): RequestStore<T>;
  readonly reply: Reply;
  readonly caller: Caller;
  /** Whether this request may change things now; a field of Mutation sets it, see `guardMutations`. */
  isChanging: boolean;
  /** When this request must have its answer. */
  readonly deadline: Deadline;
}

/** The context of one request, whichever API it came to. */
export function createContext(
  stores: Stores,
  caller: Caller,
  headers: IncomingHttpHeaders,
  deadline: Deadline,
): Context {
  const reply: Reply = { unfinished: [], replayed: false };
  let creates = 0;
  /** The name under which the next create is to be done once; null without an Idempotency-Key. */
  const nextOnce = (): Once | null => {
    const idempotencyKey = headers['idempotency-key']?.toString();
    if (idempotencyKey === undefined) return null;
    const { most, pattern, message } = IDEMPOTENCY_KEY;
    if (idempotencyKey.length > most || !pattern.test(idempotencyKey)) throw new ApiError('bad_request', message);
    return { ownerId: caller.ownerId, apiKeyId: caller.keyId, idempotencyKey, position: ++creates };
  };
  const context: Context = {
    store(table) {
      const { list, get, add } = stores(table);
      return {
        async list(query) {
          const { rows, hasMore } = await list(query, deadline);
          if (hasMore) reply.unfinished.push(rows);
          return rows;
        },
        get: (id) => get(toInt64(id), deadline),
        async add(added) {
          if (!context.isChanging) throw new Error(`Only a field of Mutation may add to ${table.name}.`);
          const { row, replayed } = await add(added, nextOnce(), deadline);
          if (replayed) reply.replayed = true;
          return row;
        },
      };
    },
    reply,
    caller,
    isChanging: false,
    deadline,
  };
  return context;
}

/** The one rule of rights: what changes something needs a key that may. Throws ApiError `forbidden`. */
export function requireWrite({ mayWrite }: Caller): void {
  if (!mayWrite) throw new ApiError('forbidden', 'This API key may only read.');
}
