import type { Knex } from 'knex';
// Knex publishes its dialects by path.
import Mysql2Client from 'knex/lib/dialects/mysql2/index.js';
import type { RowDataPacket } from 'mysql2';
import { type Deadline, remainingMs } from '../../../lib/deadline/deadline.ts';
import {
  DISTANT_LOCK_MS,
  DISTANT_MS,
  LOCK_MS,
  LONG_WORK_LOCK_MS,
  LONG_WORK_MS,
  SESSION_IDLE_MS,
  STATEMENT_MS,
} from '../../deadlines.ts';
import type { Binding, RowValues } from '../../kinds.ts';
import { poolError } from '../faults.ts';
import { createMysqlPool, type PoolEntry } from './mysql-pool.ts';
import { insertRows, readPrepared } from './mysql-prepared.ts';
import { openSession, type SessionLimits } from './mysql-session.ts';
import { parseMysqlUrl } from './mysql-url.ts';
import { createWritableHost } from './writable-host.ts';

/** For requests. The server ends a lock wait before the request's deadline, so no write happens after it. */
export const REQUEST_LIMITS: SessionLimits = {
  lockMs: LOCK_MS,
  distantLockMs: DISTANT_LOCK_MS,
  statementMs: STATEMENT_MS,
  idleMs: SESSION_IDLE_MS,
};

/** For work of minutes. The connection that holds the migration lock is idle meanwhile, so its idle time is as long. */
export const LONG_WORK_LIMITS: SessionLimits = {
  lockMs: LONG_WORK_LOCK_MS,
  distantLockMs: LONG_WORK_LOCK_MS,
  statementMs: 0,
  idleMs: LONG_WORK_MS,
};

/**
 * Knex settings for a `mysql://` address. Queries through Knex end at `currentDeadline`. Throws ConfigError when the address is
 * wrong.
 */
export function createMysqlClient(
  databaseUrl: string,
  poolMax: number,
  limits: SessionLimits,
  currentDeadline: () => Deadline,
): Knex.Config {
  const address = parseMysqlUrl(databaseUrl);
  const isDistant = (): boolean => pool.roundTrip.ms() > DISTANT_MS;
  const limitsNow = (): SessionLimits => (isDistant() ? { ...limits, lockMs: limits.distantLockMs } : limits);
  const pool = createMysqlPool(
    poolMax,
    createWritableHost(address.hosts, (target) => openSession(address, target, limitsNow())),
  );
  const onSession = async <Answer>(deadline: Deadline, work: (session: PoolEntry) => Promise<Answer>) => {
    const session = await pool.acquire(deadline);
    try {
      return await pool.runOn(session, deadline, () => work(session));
    } finally {
      pool.release(session);
    }
  };

  return {
    /**
     * Knex on mysql2 with the gateway's own pool. Knex makes no pool of its own, because the settings have no `connection`. It
     * treats a pool entry as its connection.
     */
    client: class GatewayMysqlClient extends Mysql2Client {
      readonly takesWrites = pool.takesWrites;
      readonly poolState = pool.state;
      readonly packetBytes = pool.packetBytes;
      readonly roundTripMs = pool.roundTrip.ms;

      override acquireConnection(): Promise<PoolEntry> {
        return pool.acquire(currentDeadline());
      }
      override async releaseConnection(session: PoolEntry): Promise<void> {
        pool.release(session);
      }
      override destroy(): Promise<void> {
        return pool.close();
      }

      override async _query(session: PoolEntry, query: { sql: string }): Promise<unknown> {
        const { connection } = session;
        try {
          const deadline = currentDeadline();
          if (/^COMMIT\b/i.test(query.sql)) refuseLateWrite(deadline, session);
          return await pool.runOn(session, deadline, () => super._query(connection.driver, query));
        } catch (error) {
          // The transaction may still be open on the server. Closing the connection rolls it back.
          const undone = poolError('POOL_NOT_COMMITTED', 'a transaction was not committed');
          if (/^(?:COMMIT|ROLLBACK)\b/i.test(query.sql)) connection.destroy(undone);
          throw error;
        }
      }

      /** The rows of a statement, which stays prepared on its connection unless the server is distant. */
      queryPrepared(sql: string, bindings: readonly Binding[], deadline: Deadline): Promise<RowDataPacket[]> {
        return onSession(deadline, ({ connection }) =>
          pool.roundTrip.measure(() => readPrepared(connection, sql, bindings, isDistant())),
        );
      }

      /** Adds rows, all or none; gives their ids in the order of the rows. */
      insertPrepared(into: string, rows: readonly RowValues[], deadline: Deadline): Promise<string[]> {
        return onSession(deadline, async (session) => {
          refuseLateWrite(deadline, session);
          return insertRows(session, into, rows, isDistant());
        });
      }

      /** As `insertPrepared`, within the transaction of a session. */
      insertOn(session: PoolEntry, into: string, rows: readonly RowValues[]): Promise<string[]> {
        return pool.runOn(session, currentDeadline(), () => insertRows(session, into, rows, isDistant()));
      }
    },
  };
}

/** Throws POOL_TIMEOUT when the lock wait of a write might end after the deadline. */
function refuseLateWrite(deadline: Deadline, { lockMs }: PoolEntry): void {
  if (remainingMs(deadline) < lockMs) throw poolError('POOL_TIMEOUT', 'too little time is left for a write');
}
