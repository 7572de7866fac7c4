import type { Knex } from 'knex';
import type { Database } from '../database/connect.ts';
import type { Deadline } from '../deadline.ts';
import { columnsOf, insertList, type Table } from './table.ts';

/**
 * Whether the database takes writes to these tables, found out without one: statements that add no row need the same rights,
 * the same table and the same writable server. Rolled back, because SQLite notes the last id of a table even so. Throws what
 * a write would throw.
 */
export async function checkWrites(database: Database, tables: readonly Table[], deadline?: Deadline): Promise<void> {
  const work = async (transaction: Knex.Transaction) => {
    for (const table of tables) {
      const columns = columnsOf(table).map(({ column }) => column);
      await transaction.raw(`INSERT INTO ${insertList(table)} SELECT ${columns} FROM ${table.name} WHERE 1 = 0`);
    }
  };
  await database.run(
    async (knex) => {
      const transaction = await knex.transaction();
      await work(transaction).finally(() => transaction.rollback());
    },
    { deadline },
  );
}
