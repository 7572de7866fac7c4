import type { Knex } from 'knex';
import { type Ask, sendTogether, travelRules } from '../database/batching/together.ts';
import type { Database } from '../database/connect.ts';
import { isIdTaken, isRefused } from '../database/faults.ts';
import type { Binding } from '../database/prepared.ts';
import { DatabaseFault } from '../errors.ts';
import type { Int64 } from '../int64.ts';
import { type CommitOrder, createCommitOrder } from './commit-order.ts';
import { insertList, type New, rowWriter, type Table } from './table.ts';

/** Adds rows to a table and gives their ids. */
export interface RowAdder<Added> {
  /** By itself; rows that come at the same time share a statement. DatabaseFault `tooLarge` for what the server takes from nobody. */
  add: Ask<Added, Int64>;
  /** To be waited for before `addWithin`, and ended after the transaction. */
  takeTurn: CommitOrder;
  /** As a part of a transaction, in their order, by one statement. DatabaseFault `tooLarge` as well. */
  addWithin(transaction: Knex.Transaction, added: readonly Added[]): Promise<Int64[]>;
  /** About what a row weighs in a statement, in bytes. */
  bytesOf(added: Added): number;
}

/** Bytes of a statement that are not values. */
const OVERHEAD_BYTES = 256;

/** A row to be added, and about what it weighs in a statement. */
interface WeighedRow {
  readonly row: readonly Binding[];
  readonly bytes: number;
}

/** The adder of a table; one for each process, for rows meet in it. */
export function createRowAdder<T extends Table>(database: Database, table: T): RowAdder<New<T>> {
  const into = insertList(table);
  const toRow = rowWriter(table);
  const weigh = (added: New<T>): WeighedRow => {
    const row = toRow(added);
    return { row, bytes: rowBytes(row) };
  };
  // One who holds a connection asks on that one: to wait for a second one may be to wait for each other.
  let packetBytes = database.engine === 'sqlite' ? Number.POSITIVE_INFINITY : undefined;
  const toRows = async (weighed: readonly WeighedRow[], query: (sql: string) => Promise<{ bytes: number }[]>) => {
    packetBytes ??= Number((await query('SELECT @@max_allowed_packet AS bytes'))[0]?.bytes);
    if (weighed.reduce((sum, { bytes }) => sum + bytes, OVERHEAD_BYTES) > packetBytes) {
      throw new DatabaseFault('tooLarge');
    }
    return weighed.map(({ row }) => row);
  };
  const takeTurn = createCommitOrder(database);
  // The database assigns the ids: one that is taken, or out of range, is the last one.
  const explain = (error: unknown): never => {
    if (!isIdTaken(error)) throw error;
    throw new DatabaseFault(
      'unavailable',
      new Error(`the ids of the table ${table.name} are used up`, { cause: error }),
    );
  };
  const addTogether = sendTogether<WeighedRow, Int64>(
    async (weighed, deadline) => {
      const rows = await toRows(weighed, (sql) => database.query(sql, [], deadline));
      const endTurn = await takeTurn();
      return database.insert(into, rows, deadline).catch(explain).finally(endTurn);
    },
    {
      // As the turns see it: who would wait for one waits here, where rows share a statement.
      ...travelRules({ ...database, wayMs: database.shortestWayMs }, { sideBySide: 1, batch: 32, writes: true }),
      bytesOf: ({ bytes }) => bytes,
      isAboutOne: isRefused,
    },
  );

  return {
    add: (added, deadline) => addTogether(weigh(added), deadline),
    takeTurn,
    async addWithin(transaction, added) {
      const rows = await toRows(added.map(weigh), async (sql) => (await transaction.raw(sql))[0]);
      const connection = await transaction.client.acquireConnection(); // the transaction's own; Knex types it as any
      // Knex runs the work of a transaction whose BEGIN has failed, and then refuses its own queries only.
      if (transaction.isCompleted()) throw new Error('The transaction was not begun, or is over.');
      try {
        return await transaction.client.insertOn(connection, into, rows); // ours, on both engines
      } catch (error) {
        return explain(error);
      }
    },
    bytesOf: (added) => weigh(added).bytes,
  };
}

function rowBytes(row: readonly Binding[]): number {
  // At most nine bytes tell a value's length, https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_dt_integers.html
  let bytes = 0;
  for (const value of row) bytes += 9 + (typeof value === 'string' ? Buffer.byteLength(value) : 8);
  return bytes;
}
