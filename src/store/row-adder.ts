import type { Knex } from 'knex';
import { createBatched, NEAR_MS } from '../database/batching.ts';
import type { Database } from '../database/connect.ts';
import { isIdTaken, isRefused } from '../database/faults.ts';
import type { Binding } from '../database/prepared.ts';
import type { Deadline } from '../deadline.ts';
import { DatabaseFault } from '../errors.ts';
import type { Int64 } from '../int64.ts';
import { insertList, type New, rowWriter, type Table } from './table.ts';

/** Bytes of a statement that are not values. */
const OVERHEAD_BYTES = 256;
/** How long a turn to take ids may last, in ms: a connection that was lost holds the others up no longer. */
const TURN_MS = 1000;

type Row = readonly Binding[];

/**
 * Adds rows to a table and gives their ids; one for each process, for rows share statements in it. DatabaseFault `tooLarge` for
 * what the server takes from nobody.
 */
export function createRowAdder<T extends Table>(database: Database, table: T) {
  const into = insertList(table);
  const toRow = rowWriter(table);
  let packetBytes = database.engine === 'sqlite' ? Number.POSITIVE_INFINITY : undefined;
  /** `query` asks on the connection that is held, if any: to wait for a second one may be to wait for each other. */
  const refuseTooLarge = async (rows: readonly Row[], query: (sql: string) => Promise<{ bytes: number }[]>) => {
    packetBytes ??= Number((await query('SELECT @@max_allowed_packet AS bytes'))[0]?.bytes);
    if (rows.reduce((sum, row) => sum + rowBytes(row), OVERHEAD_BYTES) > packetBytes) {
      throw new DatabaseFault('tooLarge');
    }
  };
  // The database assigns the ids: one that is taken, or out of range, is the last one.
  const explain = (error: unknown): never => {
    if (!isIdTaken(error)) throw error;
    const reason = new Error(`the ids of the table ${table.name} are used up`, { cause: error });
    throw new DatabaseFault('unavailable', reason);
  };
  const takeTurn = createCommitOrder(database);
  const addRow = createBatched<Row, Int64>(
    database,
    {
      inFlight: 1, // a second one would wait for its turn
      size: database.engine === 'sqlite' ? 128 : 32, // SQLite: what comes during a commit shares the next one
      bytesOf: rowBytes,
      isAboutOne: isRefused,
    },
    async (rows, deadline) => {
      await refuseTooLarge(rows, (sql) => database.query(sql, [], deadline));
      const endTurn = await takeTurn();
      return database.insert(into, rows, deadline).catch(explain).finally(endTurn);
    },
  );

  return {
    /** Adds a row by itself; those that come at the same time share a statement. */
    add: (added: New<T>, deadline: Deadline) => addRow(toRow(added), deadline),
    /** To be waited for before `addWithin`, and ended after the transaction (see `createCommitOrder`). */
    takeTurn,
    /** Adds rows as a part of a transaction, by one statement; their ids in the order of the rows. */
    async addWithin(transaction: Knex.Transaction, added: readonly New<T>[]): Promise<Int64[]> {
      const rows = added.map(toRow);
      await refuseTooLarge(rows, async (sql) => (await transaction.raw(sql))[0]);
      const connection = await transaction.client.acquireConnection(); // the transaction's own; Knex types it as any
      // Knex runs the work of a transaction whose BEGIN has failed, and then refuses its own queries only.
      if (transaction.isCompleted()) throw new Error('The transaction was not begun, or is over.');
      try {
        return await transaction.client.insertOn(connection, into, rows); // ours, on both engines
      } catch (error) {
        return explain(error);
      }
    },
    /** About what a row weighs in a statement, in bytes. */
    bytesOf: (added: New<T>) => rowBytes(toRow(added)),
  };
}

function rowBytes(row: Row): number {
  // At most nine bytes tell a value's length, https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_dt_integers.html
  return row.reduce<number>((sum, value) => sum + 9 + (typeof value === 'string' ? Buffer.byteLength(value) : 8), 0);
}

/**
 * Gives `takeTurn`, which waits for the turn to take ids. Its result ends the turn: call it when the ids are committed, or never
 * will be. So no reader sees an id before a smaller one of this process. Other processes do not wait, and beyond `NEAR_MS`
 * nobody does, because it would cost a round trip. One connection does one thing after the other anyway.
 */
export function createCommitOrder(database: Pick<Database, 'connectionsMax' | 'roundTripMs'>) {
  let last = Promise.resolve();
  return async (): Promise<() => void> => {
    if (database.connectionsMax === 1 || database.roundTripMs() > NEAR_MS) return () => {};
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    await before;
    setTimeout(resolve, TURN_MS).unref();
    return resolve;
  };
}
