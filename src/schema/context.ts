import type { IncomingHttpHeaders } from 'node:http';
import type { Deadline } from '../deadline.ts';
import { ApiError } from '../errors.ts';
import type { Once } from '../idempotency/idempotent-creates.ts';
import { type Integer64, toInt64 } from '../int64.ts';
import type { Page } from '../store/keyset-list.ts';
import type { Stores } from '../store/store.ts';
import type { New, PageQuery, StoredRow, Table } from '../store/table.ts';

/** Facts about the answer besides its data, for HTTP headers. */
export interface Reply {
  /** The lists that have a next page. */
  readonly unfinished: unknown[];
  /** Whether the answer is that of an earlier request with the same Idempotency-Key. */
  replayed: boolean;
}

/** The API key of a request. */
interface Caller {
  readonly keyId: string;
  /** The same for a key and its replacements by `rotate`. */
  readonly ownerId: string;
  /** False for a read-only key. */
  readonly mayWrite: boolean;
}

/** The rule of an Idempotency-Key. `most` is its length in characters. */
export const IDEMPOTENCY_KEY = {
  most: 255,
  pattern: /^[\x21-\x7e]+$/,
  message: 'The header Idempotency-Key must be 1 to 255 visible ASCII characters.',
};

/** The store of a table for one request: it applies the request's deadline and Idempotency-Key. */
interface RequestStore<T extends Table> {
  /** A page in ascending order of id. */
  list(query: PageQuery<T>): Promise<readonly StoredRow<T>[]>;
  /** The same page, and whether more rows follow it. */
  page(query: PageQuery<T>): Promise<Page<StoredRow<T>>>;
  /** The row with an id, which may be an input or a stored value; null when there is none. */
  get(id: Integer64): Promise<StoredRow<T> | null>;
  /** Adds a row, only within a field of Mutation; once for each Idempotency-Key. ApiError `bad_request` when that key is invalid. */
  add(added: New<T>): Promise<StoredRow<T>>;
}

/** The context of a request, which every resolver gets. */
export interface Context {
  store<T extends Table>(table: T): RequestStore<T>;
  readonly reply: Reply;
  readonly caller: Caller;
  /** Whether `add` is allowed; each field of Mutation sets it, see `guardMutations`. */
  isChanging: boolean;
  /** When the request must be answered. */
  readonly deadline: Deadline;
}

/** Creates the context of a request, for both APIs. */
export function createContext(
  stores: Stores,
  caller: Caller,
  headers: IncomingHttpHeaders,
  deadline: Deadline,
): Context {
  const reply: Reply = { unfinished: [], replayed: false };
  let creates = 0;
  /** Identifies the next create for idempotency; null without an Idempotency-Key. */
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
        page: (query) => list(query, deadline),
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

/** The one rule of rights: changes need a key that is not read-only. Throws ApiError `forbidden`. */
export function requireWrite({ mayWrite }: Caller): void {
  if (!mayWrite) throw new ApiError('forbidden', 'This API key may only read.');
}
