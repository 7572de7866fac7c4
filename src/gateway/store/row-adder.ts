import type { Knex } from 'knex';
import { createBatcher, LOW_LATENCY_MS } from '../../lib/batcher/batcher.ts';
import type { Deadline } from '../../lib/deadline/deadline.ts';
import type { Int64 } from '../../lib/exact-json/exact-json.ts';
import { type Database, insertWithin } from '../database/connect.ts';
import { isRefused, means } from '../database/faults.ts';
import { ANSWER_MS, ID_LOCK_MS } from '../deadlines.ts';
import { DatabaseFault } from '../errors.ts';
import type { Binding, RowValues } from '../kinds.ts';
import { createRowBinder, intoOf, type NewRow, type Table } from './table.ts';

/** The assumed bytes of a statement besides its values. */
const OVERHEAD_BYTES = 256;

/**
 * Creates the functions that add rows to a table. A process should have one set for each table, because calls are batched. They
 * reject with DatabaseFault `tooLarge` if a statement exceeds max_allowed_packet, and `unavailable` when the id of a row is taken.
 */
export function createRowAdder<T extends Table>(database: Database, table: T) {
  const into = intoOf(table);
  const bindingsOf = createRowBinder(table);
  const acquireIdLock = createIdLock(database);
  const toRow = (added: NewRow<T>) => {
    const values = bindingsOf(added);
    return { values, bytes: sizeOf(values) };
  };
  const toValues = (rows: readonly ReturnType<typeof toRow>[]) => {
    const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
    requireFit(database, bytes);
    return rows.map(({ values }) => values);
  };
  // The database assigns the ids. At its end, AUTO_INCREMENT gives the last one again, or none; a trigger may give any.
  const explain = (error: unknown): never => {
    if (!means(error, 'idTaken')) throw error;
    const seen = means(error, 'duplicate')
      ? `a new row of the table ${table.name} got an id that another row has: from a trigger, or the ids are used up`
      : `the ids of the table ${table.name} are used up`;
    throw new DatabaseFault('unavailable', new Error(seen, { cause: error }));
  };
  const addRow = createBatcher<ReturnType<typeof toRow>, Int64>(
    database,
    {
      inFlight: 1, // a second statement would wait for the id lock
      slowMs: ID_LOCK_MS, // rows that arrive during a slow commit share the next one
      maxSize: database.engine === 'sqlite' ? 128 : 32, // commits of SQLite are slow, so more rows share one
      spreadMs: ANSWER_MS, // what is done by then before the latest deadline is done before that of each row
      bytesOf: ({ bytes }) => bytes,
      isInputError: isRefused,
    },
    async (rows, deadline) => {
      const values = toValues(rows);
      const releaseIdLock = await acquireIdLock();
      return database.insert(into, values, deadline).catch(explain).finally(releaseIdLock);
    },
  );

  return {
    /** Adds a row and gives its id. Concurrent calls are batched. */
    add: (added: NewRow<T>, deadline: Deadline) => addRow(toRow(added), deadline),
    /** See `createIdLock`. A caller of `addWithin` acquires the lock before the call and releases it when its transaction has ended. */
    acquireIdLock,
    /** Adds rows within a transaction by one statement. Gives their ids in the order of the rows. */
    addWithin: async (transaction: Knex.Transaction, added: readonly NewRow<T>[]): Promise<Int64[]> =>
      insertWithin(transaction, into, toValues(added.map(toRow))).catch(explain),
    bytesOf: (added: NewRow<T>) => toRow(added).bytes,
  };
}

/** The approximate size of values in a statement, in bytes. */
export function sizeOf(values: RowValues): number {
  const bytesOf = (value: Binding) => (typeof value === 'string' ? Buffer.byteLength(value) : 8);
  // The length of a value takes at most nine bytes, https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_dt_integers.html
  return values.reduce<number>((sum, value) => sum + 9 + bytesOf(value), 0);
}

/** Throws DatabaseFault `tooLarge` when a statement with so many bytes of values would exceed max_allowed_packet. */
export function requireFit({ packetBytes }: Pick<Database, 'packetBytes'>, bytes: number): void {
  if (OVERHEAD_BYTES + bytes > packetBytes()) throw new DatabaseFault('tooLarge');
}

/**
 * Creates a mutex around the assignment of ids and their commit: no reader sees an id of this process before a smaller one. Acquiring
 * it gives its release. A distant database (beyond LOW_LATENCY_MS) has none, because waiting would cost a round trip; nor has a single
 * connection, which runs one transaction at a time. It is released by itself after ID_LOCK_MS.
 */
export function createIdLock(database: Pick<Database, 'connectionsMax' | 'roundTripMs'>) {
  let last = Promise.resolve();
  return async (): Promise<() => void> => {
    if (database.connectionsMax === 1 || database.roundTripMs() > LOW_LATENCY_MS) return () => {};
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    await before;
    const timer = setTimeout(resolve, ID_LOCK_MS).unref();
    return () => {
      clearTimeout(timer);
      resolve();
    };
  };
}
