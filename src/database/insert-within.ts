import type { Knex } from 'knex';
import type { Int64 } from '../int64.ts';
import type { Binding } from './prepared.ts';

/**
 * As `Database.insert`, as a part of a transaction. Where the table's id is no number that the database assigns, what it gives
 * means nothing.
 */
export async function insertWithin(
  transaction: Knex.Transaction,
  into: string,
  rows: readonly (readonly Binding[])[],
): Promise<Int64[]> {
  const connection = await transaction.client.acquireConnection(); // the transaction's own; Knex types it as any
  // Knex runs the work of a transaction whose BEGIN has failed, and then refuses its own queries only.
  if (transaction.isCompleted()) throw new Error('The transaction was not begun, or is over.');
  return transaction.client.insertOn(connection, into, rows); // ours, on both engines
}
