// biome-ignore-all lint/performance/noBarrelFile: a library has one entry; README.md says what for
import { type Deadline, remainingMs } from '../deadline/deadline.ts';
import type { MysqlAddress } from './mysql-address.ts';
import { type ConnectionTimes, openSession, type RoundTrip } from './mysql-session.ts';
import { MysqlPoolError } from './pool-error.ts';
import { areKept, insertRows, readKept, readPrepared, type Value } from './prepared-statements.ts';
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
  /** Called once, when rows that were added together are first not kept as they were sent, under the ids that the server told. */
  readonly onOtherIds?: () => void;
}

/** A pool that `createMysqlPool` made. */
export type MysqlPool = ReturnType<typeof createMysqlPool>;

type Rows = readonly (readonly Value[])[];

const NEAR: RoundTrip = { ms: () => 0, measure: async (work) => work() };

/**
 * A pool of connections to the server that takes writes. Connections open on first use. Rejects with errors of mysql2, the server
 * and the network as they are, and with MysqlPoolErrors.
 */
export function createMysqlPool({ address, max, limits, times, roundTrip = NEAR, onOtherIds }: MysqlPoolOptions) {
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
  const record = createKeptRecord(onOtherIds);
  const insertOn = async (session: PoolEntry, into: string, rows: Rows, deadline: Deadline, isLasting = false) => {
    record.hasIdRule = session.idRule !== undefined;
    const sent = { into, rows };
    const added = await runOn(session, deadline, () => insertRows(session, sent, isDistant()));
    try {
      const read = () => readKept(session, into, added.ids, isDistant());
      const isKept = areKept(sent, added.ids, added.kept ?? (await runOn(session, deadline, read)));
      record.note(rows.length, isKept);
      if (isKept) return added.ids;
      throw new MysqlPoolError('POOL_NOT_KEPT', 'the database changes a row, or its id, by a trigger or a type');
    } catch (error) {
      throw isLasting
        ? new MysqlPoolError(
            'POOL_NOT_UNDERSTOOD',
            'rows were added, and are not known to be kept as they were sent',
            error,
          )
        : error;
    }
  };
  return {
    ...pool,
    /** Whether the database may change so many rows, or their ids. Then they are to be added by `insertOn`, which tells it in time. */
    mayChange: (count: number) => record.mayChange(count),
    /** As `insert`, within the transaction of a session. POOL_NOT_KEPT, after which it must roll back, when rows or ids are changed. */
    insertOn,
    /** The rows of a statement, which stays prepared on its connection unless the server is distant. */
    query: (sql: string, values: readonly Value[], deadline: Deadline) =>
      onSession(deadline, ({ connection }) =>
        roundTrip.measure(() => readPrepared(connection, sql, values, isDistant())),
      ),
    /**
     * Adds rows, all or none; gives their ids in the order of the rows. `into` is `table (column, ...)`. POOL_NOT_UNDERSTOOD when the
     * rows are added, and are not known to be kept as they were sent, under ids that are known.
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
     * Runs `work`, which sends `sql` on the session's connection, and gives its result. Refuses a COMMIT, UPDATE or DELETE with
     * POOL_TIMEOUT when its lock wait might end after the deadline. When a COMMIT or ROLLBACK fails, the connection is closed, which
     * rolls back.
     */
    async run<Answer>(session: PoolEntry, sql: string, deadline: Deadline, work: () => PromiseLike<Answer>) {
      try {
        if (/^(?:COMMIT|UPDATE|DELETE)\b/i.test(sql)) refuseLateWrite(deadline, session);
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

/** Whether rows have always been kept as they were sent, under the ids that the server told. */
function createKeptRecord(onOtherIds: (() => void) | undefined) {
  // undefined before the first ones. A row that is sent alone may be kept where several have other ids.
  const always: { alone?: boolean; together?: boolean } = {};
  return {
    /** Of the server that was used last: without it, it is never asked to add several rows. */
    hasIdRule: true,
    note(count: number, isKept: boolean): void {
      const how = count === 1 ? 'alone' : 'together';
      if (!isKept && how === 'together' && always.together !== false) onOtherIds?.();
      always[how] = isKept && always[how] !== false;
    },
    mayChange(count: number): boolean {
      return count === 1 ? always.alone === false : this.hasIdRule && always.together !== true;
    },
  };
}

/** Throws POOL_TIMEOUT when the lock wait of a write might end after the deadline. */
function refuseLateWrite(deadline: Deadline, { lockMs }: PoolEntry): void {
  if (remainingMs(deadline) < lockMs) throw new MysqlPoolError('POOL_TIMEOUT', 'too little time is left for a write');
}
