// biome-ignore-all lint/performance/noBarrelFile: a library has one entry; README.md says what for
import { type Deadline, remainingMs } from '../deadline/deadline.ts';
import type { MysqlAddress } from './mysql-address.ts';
import { type ConnectionTimes, openSession, type RoundTrip } from './mysql-session.ts';
import { MysqlPoolError } from './pool-error.ts';
import { haveIds, insertRows, readPrepared, type Value } from './prepared-statements.ts';
import { createSessionPool, type PoolEntry, type RoleTimes } from './session-pool.ts';
import { examine, type SessionLimits } from './session-settings.ts';
import { createWritableHost } from './writable-host.ts';

export { type MysqlAddress, parseMysqlAddress } from './mysql-address.ts';
export { PREPARED_MAX } from './mysql-connection.ts';
export { MysqlPoolError } from './pool-error.ts';
export type { PoolEntry } from './session-pool.ts';

/** Limits of sessions, in ms. */
export interface PoolLimits extends SessionLimits {
  /** `lockMs` of a session with a distant server. */
  readonly distantLockMs: number;
}

/** The pool's own times, in ms. */
export interface PoolTimes extends ConnectionTimes, RoleTimes {
  /** The look-up of a host's name. */
  readonly nameLookupMs: number;
  /** The round trip from which a server is distant: statements are sent as text, because preparing one is a round trip more. */
  readonly distantMs: number;
}

/** What a pool is told. */
export interface MysqlPoolOptions {
  readonly address: MysqlAddress;
  /** The largest number of connections. */
  readonly max: number;
  readonly limits: PoolLimits;
  readonly times: PoolTimes;
  /** Without it, no server is distant. */
  readonly roundTrip?: RoundTrip;
}

/** A pool that `createMysqlPool` made. */
export type MysqlPool = ReturnType<typeof createMysqlPool>;

type Rows = readonly (readonly Value[])[];

const NEAR: RoundTrip = { ms: () => 0, measure: async (work) => work() };

/**
 * A pool of connections to the server that takes writes. Connections open on first use. Rejects with errors of mysql2, the server
 * and the network as they are, and with MysqlPoolErrors.
 */
export function createMysqlPool({ address, max, limits, times, roundTrip = NEAR }: MysqlPoolOptions) {
  const isDistant = (): boolean => roundTrip.ms() > times.distantMs;
  const limitsNow = (): SessionLimits => (isDistant() ? { ...limits, lockMs: limits.distantLockMs } : limits);
  const open = createWritableHost(address.hosts, times.nameLookupMs, (target) =>
    openSession(address, target, limitsNow, times, roundTrip),
  );
  const { runOn, ...pool } = createSessionPool({ max, open, times, roundTrip });
  const onSession = async <Answer>(deadline: Deadline, work: (session: PoolEntry) => Promise<Answer>) => {
    const session = await pool.acquire(deadline);
    try {
      return await runOn(session, deadline, () => work(session));
    } finally {
      pool.release(session);
    }
  };
  // Whether several rows have always had the ids that the server told; undefined before the first ones.
  let areIdsTold: boolean | undefined;
  const insertOn = async (session: PoolEntry, into: string, rows: Rows, deadline: Deadline, isLasting = false) => {
    const ids = await runOn(session, deadline, () => insertRows(session, into, rows, isDistant()));
    if (rows.length === 1) return ids;
    try {
      const check = () => haveIds(session, into, rows, ids, isDistant());
      const isTold = session.idRule === 'returning' || (await runOn(session, deadline, check));
      areIdsTold = isTold && areIdsTold !== false;
      if (isTold) return ids;
      throw new MysqlPoolError('POOL_ONE_ROW', 'several rows have other ids than the server told');
    } catch (error) {
      throw isLasting
        ? new MysqlPoolError('POOL_NOT_UNDERSTOOD', 'rows were added, and their ids are not known', error)
        : error;
    }
  };
  return {
    ...pool,
    /** Whether a trigger may give ids. Then several rows are to be added by `insertOn`, which tells it in time. */
    doubtsIds: () => areIdsTold !== true,
    /** As `insert`, within the transaction of a session. POOL_ONE_ROW, after which it must roll back, when ids are not known. */
    insertOn,
    /** The rows of a statement, which stays prepared on its connection unless the server is distant. */
    query: (sql: string, values: readonly Value[], deadline: Deadline) =>
      onSession(deadline, ({ connection }) =>
        roundTrip.measure(() => readPrepared(connection, sql, values, isDistant())),
      ),
    /**
     * Adds rows, all or none; gives their ids in the order of the rows. `into` is `table (column, ...)`. POOL_NOT_UNDERSTOOD when the
     * rows are added and their ids are not known.
     */
    async insert(into: string, rows: Rows, deadline: Deadline): Promise<string[]> {
      const session = await pool.acquire(deadline);
      try {
        refuseLateWrite(deadline, session);
        return await insertOn(session, into, rows, deadline, true);
      } finally {
        pool.release(session);
      }
    },
    /**
     * Runs `work`, which sends `sql` on the session's connection, and gives its result. Refuses a COMMIT with POOL_TIMEOUT when its
     * lock wait might end after the deadline. When a COMMIT or ROLLBACK fails, the connection is closed, which rolls back.
     */
    async run<Answer>(session: PoolEntry, sql: string, deadline: Deadline, work: () => PromiseLike<Answer>) {
      try {
        if (/^COMMIT\b/i.test(sql)) refuseLateWrite(deadline, session);
        return await runOn(session, deadline, work);
      } catch (error) {
        const undone = new MysqlPoolError('POOL_NOT_COMMITTED', 'a transaction was not committed');
        if (/^(?:COMMIT|ROLLBACK)\b/i.test(sql)) session.connection.destroy(undone);
        throw error;
      }
    },
    /** What a session and its server have: the settings that were not taken, and how many statements are prepared. */
    examine: (deadline: Deadline) =>
      onSession(deadline, ({ connection, lockMs }) => examine(connection, { ...limits, lockMs })),
  };
}

/** Throws POOL_TIMEOUT when the lock wait of a write might end after the deadline. */
function refuseLateWrite(deadline: Deadline, { lockMs }: PoolEntry): void {
  if (remainingMs(deadline) < lockMs) throw new MysqlPoolError('POOL_TIMEOUT', 'too little time is left for a write');
}
