import type { IncomingHttpHeaders } from 'node:http';
import type { Deadline } from '../../lib/deadline/deadline.ts';
import { type Integer64, toInt64 } from '../../lib/exact-json/exact-json.ts';
import { ApiError } from '../errors.ts';
import type { ScopedIdempotencyKey } from '../idempotency/idempotent-creates.ts';
import type { Caller } from '../keys/caller.ts';
import type { Stores } from '../store/store.ts';
import type { NewRow, PageQuery, Table } from '../store/table.ts';

/**
 * The rule of an Idempotency-Key: a quoted string, whose content the first group has and which is not empty, or no quoted string,
 * https://www.rfc-editor.org/rfc/rfc9651#section-3.3.3
 */
export const IDEMPOTENCY_KEY = {
  pattern: /^(?:"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\]){1,255})"|(?!""$)[\x21-\x7e]{1,255})$/,
  message: 'The header Idempotency-Key must be 1 to 255 visible ASCII characters; in quotes, blanks may be among them.',
};

/** The Idempotency-Key of a request, if it has one. ApiError `bad_request` when it is invalid. */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const sent = headers['idempotency-key']?.toString();
  if (sent === undefined) return undefined;
  const found = IDEMPOTENCY_KEY.pattern.exec(sent);
  if (found === null) throw new ApiError('bad_request', IDEMPOTENCY_KEY.message);
  return found[1]?.replaceAll(/\\(.)/g, '$1') ?? sent;
}

/** A query with the properties of PageQuery only. A list would silently ignore any other property, such as a misspelt filter. */
type Exactly<T extends Table, Query> = Query & { readonly [Name in Exclude<keyof Query, keyof PageQuery<T>>]: never };

/** The context of a request, which every resolver gets. */
export type Context = ReturnType<typeof createContext>;

/** Creates the context of a request, for both APIs. */
export function createContext(stores: Stores, caller: Caller, headers: IncomingHttpHeaders, deadline: Deadline) {
  const listsWithNextPage: unknown[] = [];
  let creates = 0;
  /** The Idempotency-Key with the scope of the next create; null without the header. */
  const nextScopedKey = (): ScopedIdempotencyKey | null => {
    const idempotencyKey = readIdempotencyKey(headers);
    if (idempotencyKey === undefined) return null;
    return { ownerId: caller.ownerId, idempotencyKey, position: ++creates };
  };
  const context = {
    /** The store of a table for this request: it applies the request's deadline and Idempotency-Key. */
    store<T extends Table>(table: T) {
      const { list, get, add } = stores(table);
      return {
        /** A page by ascending id, and whether more rows follow it. */
        page: <Query extends PageQuery<T>>(query: Exactly<T, Query>) => list(query, deadline),
        /** The rows of such a page. If more follow, the array is added to `listsWithNextPage`. */
        async list<Query extends PageQuery<T>>(query: Exactly<T, Query>) {
          const { rows, hasMore } = await list(query, deadline);
          if (hasMore) listsWithNextPage.push(rows);
          return rows;
        },
        /** The row with an id; null when there is none. */
        get: (id: Integer64) => get(toInt64(id), deadline),
        /** Adds a row, once for each Idempotency-Key. ApiError `bad_request` when that key is invalid; Error in a field of Query. */
        async add(added: NewRow<T>) {
          if (!context.isMutation) throw new Error(`Only a field of Mutation may add to ${table.name}.`);
          const { row, replayed } = await add(added, nextScopedKey(), deadline);
          if (replayed) context.isReplayed = true;
          return row;
        },
      };
    },
    caller,
    /** Whether `add` is allowed. `guardMutations` sets it for the fields of Mutation. */
    isMutation: false,
    /** The row arrays that `list` gave and that more rows follow. REST sets `Link` for them. */
    listsWithNextPage,
    /** Whether the answer is that of an earlier request with the same Idempotency-Key. */
    isReplayed: false,
  };
  return context;
}
