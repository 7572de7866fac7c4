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
import { insertAllOrNone, insertRows, notCommitted, readPrepared } from './mysql-prepared.ts';
import { openSession, type SessionLimits } from './mysql-session.ts';
import { parseMysqlUrl } from './mysql-url.ts';
import { createWritableHost } from './writable-host.ts';

/** For requests: what waits for a lock ends at the server before the request does, so it cannot happen later. */
export const REQUEST_LIMITS: SessionLimits = { lockMs: LOCK_MS, statementMs: STATEMENT_MS, idleMs: SESSION_IDLE_MS };

/** For work of minutes; a connection that holds the lock of migrations is idle meanwhile. */
export const UNHURRIED_LIMITS: SessionLimits = { lockMs: UNHURRIED_LOCK_MS, statementMs: 0, idleMs: UNHURRIED_MS };

/**
 * Knex settings for a `mysql://` address; what goes through Knex has the deadline that `currentDeadline` gives. Throws
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

  /** Runs `work` on a connection, until the deadline. */
  const onConnection = async <Result>(deadline: Deadline, work: (connection: Connection) => Promise<Result>) => {
    const connection = await pool.acquire(deadline);
    try {
      return await pool.ask(connection, deadline, () => work(connection));
    } finally {
      pool.release(connection);
    }
  };

  return {
    /** Knex on mysql2, with our session and pool. */
    client: class GatewayMysqlClient extends Mysql2Client {
      readonly takesWrites = pool.takesWrites;
      readonly poolState = pool.state;
      readonly roundTripMs = pool.roundTrip.ms;

      /** Ours stands in for Knex's. */
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

      /** The rows of a prepared statement, kept by the connection for the next time. */
      queryPrepared(sql: string, bindings: readonly Binding[], deadline = currentDeadline()): Promise<RowDataPacket[]> {
        return onConnection(deadline, (connection) =>
          pool.roundTrip.measure(() => readPrepared(connection, sql, bindings)),
        );
      }

      /** As `insertPrepared`, on a connection that is held for a transaction. */
      insertOn(connection: Connection, into: string, rows: readonly (readonly Binding[])[]) {
        return pool.ask(connection, currentDeadline(), () => insertRows(connection, into, rows));
      }

      /** The ids that one prepared INSERT gives its rows, in their order. */
      insertPrepared(
        into: string,
        rows: readonly (readonly Binding[])[],
        deadline = currentDeadline(),
      ): Promise<string[]> {
        return onConnection(deadline, (connection) => {
          const refuseLate = () => refuseLateWrite(deadline, limits);
          refuseLate();
          return insertAllOrNone(connection, into, rows, refuseLate);
        });
      }
    },
    connection: {},
  };
}

/** A write that may outlive its deadline is not begun: what waits for a lock must end at the server before. */
function refuseLateWrite(deadline: Deadline, { lockMs }: SessionLimits): void {
  if (remainingMs(deadline) < lockMs) throw poolError('POOL_TIMEOUT', 'too little time is left for a write');
}
