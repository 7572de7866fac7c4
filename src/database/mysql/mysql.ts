import type { Knex } from 'knex';
// Knex publishes its dialects by path.
import Mysql2Client from 'knex/lib/dialects/mysql2/index.js';
import type { Connection, RowDataPacket } from 'mysql2';
import { type Deadline, remainingMs } from '../../deadline.ts';
import { LOCK_MS, SESSION_IDLE_MS, STATEMENT_MS, UNHURRIED_LOCK_MS, UNHURRIED_MS } from '../../deadlines.ts';
import type { Binding } from '../../kinds.ts';
import { poolError } from '../faults.ts';
import { destroyConnection } from './mysql-connection.ts';
import { createMysqlPool } from './mysql-pool.ts';
import { insertRows, isOneInsert, notCommitted, readPrepared } from './mysql-prepared.ts';
import { openSession, type SessionLimits } from './mysql-session.ts';
import { parseMysqlUrl } from './mysql-url.ts';
import { createWritableHost } from './writable-host.ts';

/** For requests: a wait for a lock ends at the server before the request's deadline, so that no write happens after it. */
export const REQUEST_LIMITS: SessionLimits = { lockMs: LOCK_MS, statementMs: STATEMENT_MS, idleMs: SESSION_IDLE_MS };

/** For work of minutes; the connection that holds the migration lock is idle during a migration. */
export const UNHURRIED_LIMITS: SessionLimits = { lockMs: UNHURRIED_LOCK_MS, statementMs: 0, idleMs: UNHURRIED_MS };

/**
 * Knex settings for a `mysql://` address. Queries through Knex have the deadline that `currentDeadline` gives. Throws
 * ConfigError when the address is wrong.
 */
export function createMysqlClient(
  databaseUrl: string,
  poolMax: number,
  limits: SessionLimits,
  currentDeadline: () => Deadline,
): Knex.Config {
  const address = parseMysqlUrl(databaseUrl);
  const pool = createMysqlPool(
    poolMax,
    createWritableHost(address.hosts, (target) => openSession(address, target, limits)),
  );

  return {
    /** Knex on mysql2, with the gateway's sessions and pool. */
    client: class GatewayMysqlClient extends Mysql2Client {
      readonly takesWrites = pool.takesWrites;
      readonly poolState = pool.state;
      readonly roundTripMs = pool.roundTrip.ms;

      /** Knex's own pool is not used. */
      override initializePool(): void {}

      override acquireConnection(): Promise<Connection> {
        return pool.acquire(currentDeadline());
      }
      override async releaseConnection(connection: Connection): Promise<void> {
        pool.release(connection);
      }
      override destroy(): Promise<void> {
        return pool.close();
      }

      override async _query(connection: Connection, query: { sql: string }): Promise<unknown> {
        try {
          const deadline = currentDeadline();
          if (/^COMMIT\b/i.test(query.sql)) refuseLateWrite(deadline, limits);
          return await pool.ask(connection, deadline, () => super._query(connection, query));
        } catch (error) {
          if (/^(?:COMMIT|ROLLBACK)\b/i.test(query.sql)) destroyConnection(connection, notCommitted());
          throw error;
        }
      }

      /** The rows of a statement that stays prepared on its connection. */
      async queryPrepared(sql: string, bindings: readonly Binding[], deadline: Deadline): Promise<RowDataPacket[]> {
        const connection = await pool.acquire(deadline);
        try {
          const read = () => pool.roundTrip.measure(() => readPrepared(connection, sql, bindings));
          return await pool.ask(connection, deadline, read);
        } finally {
          pool.release(connection);
        }
      }

      /** As `insertPrepared`, within the transaction of a connection. */
      insertOn(connection: Connection, into: string, rows: readonly (readonly Binding[])[]) {
        return pool.ask(connection, currentDeadline(), () => insertRows(connection, into, rows));
      }

      /** Adds rows, all or none; gives their ids in the order of the rows. */
      async insertPrepared(into: string, rows: readonly (readonly Binding[])[]): Promise<string[]> {
        const connection = await this.acquireConnection();
        try {
          refuseLateWrite(currentDeadline(), limits);
          if (isOneInsert(connection, rows)) return await this.insertOn(connection, into, rows);
          const insert = async (transaction: Knex.Transaction) => {
            // Knex runs the callback of a transaction even when BEGIN failed.
            if (transaction.isCompleted()) throw new Error('The transaction was not begun.');
            return this.insertOn(connection, into, rows);
          };
          const inserted: unknown = await this.transaction(insert, { connection }, null); // not typed as a promise
          return inserted as string[]; // of `insert`
        } finally {
          pool.release(connection);
        }
      }
    },
    connection: {},
  };
}

/** Refuses a write whose wait for a lock might end after the deadline. */
function refuseLateWrite(deadline: Deadline, { lockMs }: SessionLimits): void {
  if (remainingMs(deadline) < lockMs) throw poolError('POOL_TIMEOUT', 'too little time is left for a write');
}
