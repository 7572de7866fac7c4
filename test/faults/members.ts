import mysql from 'mysql2/promise';
import type { StoredPet } from './ledger.ts';

/** Runs statements as root on a connection of their own to a member of a cluster; gives what the last one gave. */
export async function query<Rows extends mysql.QueryResult>(port: number, ...statements: string[]): Promise<Rows> {
  const connection = await mysql.createConnection(`mysql://root@127.0.0.1:${port}/mysql`);
  try {
    let result: unknown;
    for (const sql of statements) [result] = await connection.query(sql);
    return result as Rows; // of the last one, which the caller knows
  } finally {
    await connection.end();
  }
}

/** The animals of each member, once it has all that the others have: `waits` is the statement that has it wait. */
export function storedAt(ports: readonly number[], waits: string): Promise<StoredPet[][]> {
  const sql = 'SELECT id, name FROM petstore.pets ORDER BY id';
  return Promise.all(ports.map((port) => query<(StoredPet & mysql.RowDataPacket)[]>(port, waits, sql)));
}
