import type { Knex } from 'knex';
import type { Deadline } from '../../lib/deadline/deadline.ts';
import type { Int64 } from '../../lib/exact-json/exact-json.ts';
import type { Database } from '../database/connect.ts';
import { createIdempotentCreates, type ScopedIdempotencyKey } from '../idempotency/idempotent-creates.ts';
import { createKeysetList, createRowReader, LONG_ROW_BYTES } from './keyset-list.ts';
import { createRowAdder, requireFit, sizeOf } from './row-adder.ts';
import {
  bindValue,
  type Changes,
  columnsOf,
  createCanonicalizer,
  createRowBinder,
  intoOf,
  type NewRow,
  type StoredRow,
  type Table,
  valuesOf,
} from './table.ts';

/** Reads, adds, changes and removes rows of one table. All functions reject with DatabaseFault `unavailable` at the deadline or without the database. */
export type Store<T extends Table> = ReturnType<typeof createStore<T>>;

/** Gives the store of a table. Each call gives the same store, which batches concurrent queries. */
export type Stores = ReturnType<typeof createStores>;

/**
 * Creates the stores of a database. A process should have one set: queries of different sets share no batch. Where a row may have
 * `rowBytesMax` bytes, more than usual, less is read at once.
 */
export function createStores(database: Database, rowBytesMax = LONG_ROW_BYTES) {
  const stores = new Map<Table, unknown>();
  return <T extends Table>(table: T): Store<T> => {
    const store = (stores.get(table) as Store<T> | undefined) ?? createStore(database, table, rowBytesMax); // set here, for this table
    stores.set(table, store);
    return store;
  };
}

function createStore<T extends Table>(database: Database, table: T, rowBytesMax: number) {
  const { add, ...adder } = createRowAdder(database, table);
  const changer = createRowChanger(database, table);
  const get = createRowReader(database, table, rowBytesMax);
  const names = Object.keys(table.fields);
  const createIdempotently = createIdempotentCreates<NewRow<T>>(database, {
    operation: table.name,
    canonical: createCanonicalizer(table),
    ...adder,
  });
  return {
    list: createKeysetList(database, table, rowBytesMax),
    get,
    /** Adds a row. With `scopedKey`, a retry gets the row of the first request: see `createIdempotentCreates`, also for errors. */
    async add(added: NewRow<T>, scopedKey: ScopedIdempotencyKey | null, deadline: Deadline) {
      const { id, replayed } = scopedKey
        ? await createIdempotently(scopedKey, added, deadline)
        : { id: await add(added, deadline), replayed: false };
      const given = valuesOf(added);
      const row: Record<string, unknown> = { id };
      for (const name of names) row[name] = given[name] ?? null;
      return { row: row as StoredRow<T>, replayed }; // the id, and every field
    },
    /** Sets the values that are given; those that are absent or null stay. Gives the row; null when there is none. */
    async update(id: Int64, changes: Changes<T>, deadline: Deadline): Promise<StoredRow<T> | null> {
      await changer.change(id, changes, deadline);
      return get(id, deadline);
    },
    /** Removes a row. Gives it as it was, to one of several concurrent calls; null when there is none. */
    async remove(id: Int64, deadline: Deadline): Promise<StoredRow<T> | null> {
      const row = await get(id, deadline);
      return row !== null && (await changer.remove(id, deadline)) ? row : null;
    },
    /** Adds rows by one statement. The caller must keep it below the packet limit of the database. */
    async addAll(added: readonly NewRow<T>[]) {
      const rows = added.map(createRowBinder(table));
      const { columns } = intoOf(table);
      const sql = `INSERT INTO ${table.name} (${columns}) VALUES ${rows.map((row) => `(${row.map(() => '?')})`)}`;
      await database.run((knex) => knex.raw(sql, rows.flat() as Knex.RawBinding[])); // both drivers bind a bigint
    },
    isEmpty: async () => (await database.run((knex) => knex(table.name).first('id'))) === undefined,
  };
}

/** Creates the functions that change and remove the row of an id. Without such a row they do nothing. */
export function createRowChanger<T extends Table>(database: Database, table: T) {
  const columns = columnsOf(table);
  const rowOf = (knex: Knex, id: Int64) => knex(table.name).where({ id: BigInt(id) });
  return {
    /** Sets the values that are given. DatabaseFault `tooLarge` if the statement exceeds max_allowed_packet. */
    async change(id: Int64, changes: Changes<T>, deadline: Deadline): Promise<void> {
      const given = valuesOf(changes);
      const values = columns
        .map(({ name, column, kind }) => [column, bindValue(kind, given[name])] as const)
        .filter(([, value]) => value !== null);
      if (values.length === 0) return;
      requireFit(database, sizeOf(values.map(([, value]) => value)));
      const set = Object.fromEntries(values);
      // It sets values, so it may be done twice.
      await database.run((knex) => rowOf(knex, id).update(set), { idempotent: true, deadline });
    },
    /** Removes the row: true for the one call that did. Done twice, it would say that there was no row: it is not idempotent. */
    async remove(id: Int64, deadline: Deadline): Promise<boolean> {
      return (await database.run((knex) => rowOf(knex, id).delete(), { deadline })) > 0;
    },
  };
}

const SAMPLES = 12;

/** Adds samples to each empty table of a resource that has samples. Gives the total number. */
export async function addSamples<T extends Table>(
  within: Database,
  resources: readonly { readonly table: T; readonly sample?: (index: number) => NewRow<T> }[],
): Promise<number> {
  let added = 0;
  for (const { table, sample } of resources) {
    const store = createStores(within)(table);
    if (!sample || !(await store.isEmpty())) continue;
    await store.addAll(Array.from({ length: SAMPLES }, (_, index) => sample(index)));
    added += SAMPLES;
  }
  return added;
}
