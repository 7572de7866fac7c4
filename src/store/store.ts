import type { Batched } from '../database/batching.ts';
import type { Database } from '../database/connect.ts';
import type { Deadline } from '../deadline.ts';
import { createIdempotentCreates, type Once } from '../idempotency/idempotent-creates.ts';
import type { Int64 } from '../int64.ts';
import { createKeysetList, createRowReader, type Page } from './keyset-list.ts';
import { createRowAdder } from './row-adder.ts';
import {
  canonicalWriter,
  fieldPicker,
  insertList,
  type Kept,
  type New,
  type PageQuery,
  rowWriter,
  type Table,
} from './table.ts';

/** The things of one table. Every function fails with `unavailable` when the database is away, or at its deadline. */
export interface Store<T extends Table> {
  list: Batched<PageQuery<T>, Page<Kept<T>>>;
  /** The thing of an id, or null. */
  get: Batched<Int64, Kept<T> | null>;
  /** Adds a thing; with `once`, a retry gets what the first request has added (see `createIdempotentCreates`). */
  add(added: New<T>, once: Once | null, deadline: Deadline): Promise<{ row: Kept<T>; replayed: boolean }>;
  /** Adds many at once, all or none. */
  addAll(added: readonly New<T>[]): Promise<void>;
  isEmpty(): Promise<boolean>;
}

/** Gives the store of a table: always the same one, for requests meet in it. */
export type Stores = <T extends Table>(table: T) => Store<T>;

/** The stores of this database; one for each process. */
export function createStores(database: Database): Stores {
  const stores = new Map<Table, unknown>();
  return <T extends Table>(table: T): Store<T> => {
    const known = stores.get(table) as Store<T> | undefined; // set below, for this table
    if (known) return known;
    const store = createStore(database, table);
    stores.set(table, store);
    return store;
  };
}

function createStore<T extends Table>(database: Database, table: T): Store<T> {
  const adder = createRowAdder(database, table);
  const pick = fieldPicker(table);
  const createOnce = createIdempotentCreates<New<T>>(database, {
    operation: table.records === undefined ? table.name : table.records.name,
    canonical: canonicalWriter(table),
    create: adder.addWithin,
    takeTurn: adder.takeTurn,
    bytesOf: adder.bytesOf,
  });
  return {
    list: createKeysetList(database, table),
    get: createRowReader(database, table),
    async add(added, once, deadline) {
      const { id, replayed } = once
        ? await createOnce(once, added, deadline)
        : { id: await adder.add(added, deadline), replayed: false };
      return { row: { id, ...pick(added) } as Kept<T>, replayed }; // all fields, and the id
    },
    async addAll(added) {
      await database.insert(insertList(table), added.map(rowWriter(table)), undefined); // for nobody's request
    },
    async isEmpty() {
      return (await database.run((knex) => knex(table.name).first('id'))) === undefined;
    },
  };
}
