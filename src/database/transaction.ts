import type { Database } from './connect.ts';

/** Does `work` in one transaction: what it runs and inserts by the database that it gets is done all or not at all. */
export function inTransaction<T>(database: Database, work: (within: Database) => Promise<T>): Promise<T> {
  return database.run((knex) =>
    knex.transaction(async (transaction) => {
      const { client } = transaction; // ours, on both engines
      return work({
        ...database,
        run: async (part) => part(transaction),
        insert: async (into, rows) => client.insertOn(await client.acquireConnection(), into, rows),
      });
    }),
  );
}
