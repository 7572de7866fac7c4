// Knex publishes its dialects by path.
import Mysql2Client from 'knex/lib/dialects/mysql2/index.js';
import type { Deadline } from '../../lib/deadline/deadline.ts';
import {
  createMysqlPool,
  type MysqlAddress,
  type PoolEntry,
  type PoolLimits,
  type PoolTimes,
  parseMysqlAddress,
} from '../../lib/mysql-pool/mysql-pool.ts';
import { ConfigError } from '../config.ts';
import * as deadlines from '../deadlines.ts';
import type { Into, RowValues } from '../kinds.ts';

/** For requests. The server ends a lock wait before the request's deadline, so no write happens after it. */
export const REQUEST_LIMITS: PoolLimits = {
  lockMs: deadlines.LOCK_MS,
  distantLockMs: deadlines.DISTANT_LOCK_MS,
  statementMs: deadlines.STATEMENT_MS,
  idleMs: deadlines.SESSION_IDLE_MS,
};

/** For work of minutes. The connection that holds the migration lock is idle meanwhile, so its idle time is as long. */
export const LONG_WORK_LIMITS: PoolLimits = {
  lockMs: deadlines.LONG_WORK_LOCK_MS,
  distantLockMs: deadlines.LONG_WORK_LOCK_MS,
  statementMs: 0,
  idleMs: deadlines.LONG_WORK_MS,
};

const TIMES: PoolTimes = {
  nameLookupMs: deadlines.NAME_LOOKUP_MS,
  connectMs: deadlines.CONNECT_MS,
  connectionEndMs: deadlines.CONNECTION_END_MS,
  roleIntervalMs: deadlines.ROLE_INTERVAL_MS,
  roleTimeoutMs: deadlines.ROLE_TIMEOUT_MS,
  roleMaxAgeMs: deadlines.ROLE_MAX_AGE_MS,
  distantMs: deadlines.DISTANT_MS,
};

/** Said when rows of one statement were not found again as they were sent, under the ids that the server told. */
const OTHER_IDS =
  'a trigger gives other ids than the server tells, or changes rows: from now on each is added alone, which takes longer (npm run doctor)';

/**
 * Knex settings for a `mysql://` address. Queries through Knex end at `currentDeadline`. Throws ConfigError when the address is
 * wrong.
 */
export function createMysqlConfig(
  databaseUrl: string,
  max: number,
  limits: PoolLimits,
  currentDeadline: () => Deadline,
  tell: (what: string) => void,
) {
  const onOtherIds = () => tell(OTHER_IDS);
  const pool = createMysqlPool({ address: parseUrl(databaseUrl), max, limits, times: TIMES, onOtherIds });
  return {
    /** Knex on mysql2. Knex makes no pool of its own, because the settings have no `connection`; its connections are pool entries. */
    client: class GatewayMysqlClient extends Mysql2Client {
      readonly takesWrites = pool.takesWrites;
      readonly poolState = pool.state;
      readonly packetBytes = pool.packetBytes;
      readonly roundTripMs = pool.roundTripMs;
      readonly queryPrepared = pool.query;
      readonly insertPrepared = pool.insert;
      readonly mayChange = pool.mayChange;
      readonly preload = async () => {};
      readonly examine = () => pool.examine(currentDeadline());

      insertOn(session: PoolEntry, into: Into, rows: readonly RowValues[]): Promise<string[]> {
        return pool.insertOn(session, into, rows, currentDeadline());
      }

      override acquireConnection(): Promise<PoolEntry> {
        return pool.acquire(currentDeadline());
      }
      override async releaseConnection(session: PoolEntry): Promise<void> {
        pool.release(session);
      }
      override destroy(): Promise<void> {
        return pool.close();
      }
      override _query(session: PoolEntry, query: { sql: string }): Promise<unknown> {
        return pool.run(session, query.sql, currentDeadline(), () => super._query(session.connection.driver, query));
      }
    },
  };
}

function parseUrl(databaseUrl: string): MysqlAddress {
  try {
    return parseMysqlAddress(databaseUrl, 'DATABASE_URL');
  } catch (error) {
    throw new ConfigError((error as Error).message); // its own Errors
  }
}
