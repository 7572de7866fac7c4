import type { IncomingHttpHeaders } from 'node:http';
import type { Deadline } from '../../lib/deadline/deadline.ts';
import { type Integer64, toInt64 } from '../../lib/exact-json/exact-json.ts';
import { ApiError } from '../errors.ts';
import type { ScopedIdempotencyKey } from '../idempotency/idempotent-creates.ts';
import type { Caller } from '../keys/api-key.ts';
import type { Page } from '../store/keyset-list.ts';
import type { Stores } from '../store/store.ts';
import type { Changes, NewRow, PageQuery, StoredRow, Table } from '../store/table.ts';

/**
 * The rule of an Idempotency-Key: a quoted string, whose content the first group has, or no quoted string,
 * https://www.rfc-editor.org/rfc/rfc9651#section-3.3.3. It takes an empty one, `""`, too: to refuse it would need a lookahead, and
 * readers of OpenAPI in Go know none.
 */
export const IDEMPOTENCY_KEY = {
  pattern: /^(?:"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\]){1,255})"|[\x21-\x7e]{1,255})$/,
  message: 'The header Idempotency-Key must be 1 to 255 visible ASCII characters; in quotes, blanks may be among them.',
};

/** The Idempotency-Key of a request, if it has one. ApiError `bad_request` when it is invalid. */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const sent = headers['idempotency-key']?.toString();
  if (sent === undefined) return undefined;
  const found = IDEMPOTENCY_KEY.pattern.exec(sent);
  if (found === null || sent === '""') throw new ApiError('bad_request', IDEMPOTENCY_KEY.message);
  return found[1]?.replaceAll(/\\(.)/g, '$1') ?? sent;
}

/** A query with the properties of PageQuery only. A list would silently ignore any other property, such as a misspelt filter. */
type Exactly<T extends Table, Query> = Query & { readonly [Name in Exclude<keyof Query, keyof PageQuery<T>>]: never };

/** The store of a table for one request: it applies the request's deadline and Idempotency-Key. */
export interface RequestStore<T extends Table> {
  /** A page by ascending id, which tells whether more rows follow it. */
  list<Query extends PageQuery<T>>(query: Exactly<T, Query>): Promise<Page<StoredRow<T>>>;
  /** The row with an id; null when there is none. */
  get(id: Integer64): Promise<StoredRow<T> | null>;
  /** Adds a row, once for each Idempotency-Key. ApiError `bad_request` when that key is invalid. */
  add(added: NewRow<T>): Promise<StoredRow<T>>;
  /** Sets the values that are given, and gives the row; null when there is none. */
  update(id: Integer64, changes: Changes<T>): Promise<StoredRow<T> | null>;
  /** Removes a row, and gives it as it was; null when there is none. */
  remove(id: Integer64): Promise<StoredRow<T> | null>;
}

/** The context of a request, which every resolver gets. */
export interface Context {
  /** Gives the store of a table. It only reads: `add`, `update` and `remove` reject with Error, except in the fields of Mutation. */
  readonly store: <T extends Table>(table: T) => RequestStore<T>;
  readonly caller: Caller;
  /** The context of a field of Mutation, whose stores change rows. */
  forMutation(): Context;
  /** Whether the answer is that of an earlier request with the same Idempotency-Key. */
  isReplayed(): boolean;
}

/** The most bytes of an answer's data. */
export const ANSWER_BYTES_MAX = 32 * 2 ** 20;

/** The refusal of a page whose rows have more. */
export function answerTooLarge(): ApiError {
  const message = `The answer would be larger than ${ANSWER_BYTES_MAX} bytes: ask for a smaller limit.`;
  return new ApiError('bad_request', message, { graphqlCode: 'MAX_RESPONSE_BYTES_EXCEEDED' });
}

/** Creates the context of a request, for both APIs. */
export function createContext(
  stores: Stores,
  caller: Caller,
  headers: IncomingHttpHeaders,
  deadline: Deadline,
): Context {
  let isReplayed = false;
  let creates = 0;
  let readBytes = 0;
  const countRead = (bytes: number) => {
    readBytes += bytes;
    if (readBytes > ANSWER_BYTES_MAX) throw answerTooLarge();
  };
  /** The Idempotency-Key with the scope of the next create; null without the header. */
  const nextScopedKey = (): ScopedIdempotencyKey | null => {
    const idempotencyKey = readIdempotencyKey(headers);
    if (idempotencyKey === undefined) return null;
    return { ownerId: caller.ownerId, idempotencyKey, position: ++creates };
  };
  const readingStore = <T extends Table>(table: T): RequestStore<T> => {
    const { list, get } = stores(table);
    const refuse = async () => {
      throw new Error(`Only a field of Mutation may change ${table.name}.`);
    };
    return {
      list: (query) => list(query, deadline, countRead),
      get: (id) => get(toInt64(id), deadline),
      add: refuse,
      update: refuse,
      remove: refuse,
    };
  };
  const changingStore = <T extends Table>(table: T): RequestStore<T> => {
    const { add, update, remove } = stores(table);
    return {
      ...readingStore(table),
      async add(added) {
        const { row, replayed } = await add(added, nextScopedKey(), deadline);
        if (replayed) isReplayed = true;
        return row;
      },
      update: (id, changes) => update(toInt64(id), changes, deadline),
      remove: (id) => remove(toInt64(id), deadline),
    };
  };
  const contextWith = (store: Context['store']): Context => ({
    store,
    caller,
    forMutation: () => contextWith(changingStore),
    isReplayed: () => isReplayed, // a getter in a literal would be made by V8 in the old space, for each request
  });
  return contextWith(readingStore);
}
