import type { Knex } from 'knex';
import type { Deadline } from '../deadline.ts';
import { ApiError } from '../errors.ts';
import type { Int64 } from '../int64.ts';
import type { Database } from './connect.ts';
import type { Binding } from './prepared.ts';
import { insertList, type Table, toRow } from './table.ts';
import { type Ask, sendTogether, travelRules } from './together.ts';

/** Adds rows to a table and gives their ids. */
export interface RowAdder<New> {
  /** By itself; rows that come at the same time share a statement. ApiError `payload_too_large` for what the server takes from nobody. */
  add: Ask<New, Int64>;
  /** As a part of a transaction, in their order, by one statement. ApiError `payload_too_large` as well. */
  addWithin(transaction: Knex, added: readonly New[], deadline: Deadline): Promise<Int64[]>;
  /** About what a row weighs in a statement, in bytes. */
  bytesOf(added: New): number;
}

/** Bytes of a statement that are not values. */
const OVERHEAD_BYTES = 256;

/** The adder of a table; one for each process, for rows meet in it. */
export function createRowAdder<New>(database: Database, table: Table<New>): RowAdder<New> {
  const into = insertList(table);
  const bytesOf = (added: New) => rowBytes(toRow(table, added));
  // One who holds a connection asks on that one: to wait for a second one may be to wait for each other.
  let packetBytes = database.engine === 'sqlite' ? Number.POSITIVE_INFINITY : undefined;
  const toRows = async (added: readonly New[], query: (sql: string) => Promise<{ bytes: number }[]>) => {
    packetBytes ??= Number((await query('SELECT @@max_allowed_packet AS bytes'))[0]?.bytes);
    const rows = added.map((one) => toRow(table, one));
    if (rows.reduce((sum, row) => sum + rowBytes(row), OVERHEAD_BYTES) > packetBytes) {
      throw new ApiError('payload_too_large', 'The database takes no value of this length.');
    }
    return rows;
  };

  return {
    add: sendTogether(
      async (added, deadline) => {
        const rows = await toRows(added, (sql) => database.query(sql, [], deadline));
        return database.insert(into, rows, deadline);
      },
      { ...travelRules(database, { whileBusy: 2, batch: 32, writes: true }), bytesOf, isAboutOne: isRefused },
    ),
    async addWithin(transaction, added, deadline) {
      const rows = await toRows(added, async (sql) => (await transaction.raw(sql))[0]);
      const connection = await transaction.client.acquireConnection(); // the transaction's own; Knex types it as any
      return transaction.client.insertOn(connection, into, rows, deadline); // ours, on both engines
    },
    bytesOf,
  };
}

/** Whether the database, or the size of a packet, refused a statement without doing any of it. */
export function isRefused(error: unknown): boolean {
  if (error instanceof ApiError) return error.code === 'payload_too_large';
  // The server's own words come with an SQLSTATE, SQLite's with a result code: the statement was taken back. What means
  // "not now" or leaves the outcome open has become `service_unavailable` before.
  return error instanceof Error && ('sqlState' in error || 'errcode' in error);
}

function rowBytes(row: readonly Binding[]): number {
  // At most nine bytes tell a value's length, https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_dt_integers.html
  return row.reduce<number>((sum, value) => sum + 9 + (typeof value === 'string' ? Buffer.byteLength(value) : 8), 0);
}
