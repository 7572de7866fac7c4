// biome-ignore-all lint/performance/noBarrelFile: a library has one entry; README.md says what for
import { type Deadline, remainingMs } from '../deadline/deadline.ts';
import { openSession, type SessionOptions } from './mysql-session.ts';
import { MysqlPoolError } from './pool-error.ts';
import type { Into, Rows, Value } from './prepared-statements.ts';
import { areKept, insertRows, readKept, readPrepared } from './prepared-statements.ts';
import { createRoundTrip } from './round-trip.ts';
import { createSessionPool, type PoolEntry } from './session-pool.ts';
import { examine } from './session-settings.ts';
import { createWritableHost } from './writable-host.ts';

export { type MysqlAddress, parseMysqlAddress } from './mysql-address.ts';
export { PREPARED_MAX } from './mysql-connection.ts';
export { MysqlPoolError } from './pool-error.ts';
export type { PoolEntry } from './session-pool.ts';
export type { PoolLimits, PoolTimes } from './session-settings.ts';

/** What a pool is told. */
export interface MysqlPoolOptions extends SessionOptions {
  /** The largest number of connections. */
  readonly max: number;
  /** Called once, when rows that were added together are first not kept as they were sent, under the ids that the server told. */
  readonly onOtherIds?: () => void;
}

/** A pool that `createMysqlPool` made. */
export type MysqlPool = ReturnType<typeof createMysqlPool>;

/**
 * A pool of connections to the server that takes writes. Connections open on first use. Rejects with errors of mysql2, the server
 * and the network as they are, and with MysqlPoolErrors.
 */
export function createMysqlPool({ max, onOtherIds, ...options }: MysqlPoolOptions) {
  const { address, limits, times } = options;
  const roundTrip = createRoundTrip();
  const isDistant = (): boolean => roundTrip.ms() > times.distantMs;
  const open = createWritableHost(address.hosts, times.nameLookupMs, (target) =>
    openSession(options, target, roundTrip),
  );
  const { runOn, ...pool } = createSessionPool({ max, open, times, roundTrip });
  const onSession = async <Answer>(deadline: Deadline, work: (session: PoolEntry) => Promise<Answer>) => {
    const session = await pool.acquire(deadline);
    try {
      return await work(session);
    } finally {
      pool.release(session);
    }
  };
  const record = createKeptRecord(onOtherIds);
  const add = async (session: PoolEntry, into: Into, rows: Rows, deadline: Deadline, isLasting: boolean) => {
    record.noteServer(session);
    const added = await runOn(session, deadline, () => insertRows(session, into, rows, isDistant()));
    try {
      const read = () => readKept(session, into, added.ids, isDistant());
      const isKept = areKept(into, rows, added.ids, added.kept ?? (await runOn(session, deadline, read)));
      record.note(rows.length, isKept);
      if (isKept) return added.ids;
      throw new MysqlPoolError('POOL_NOT_KEPT', 'the database changes a row, or its id, by a trigger or a type');
    } catch (error) {
      const message = 'rows were added, and are not known to be kept as they were sent';
      throw isLasting ? new MysqlPoolError('POOL_NOT_UNDERSTOOD', message, error) : error;
    }
  };
  return {
    ...pool,
    /** Whether the database may change so many rows, or their ids. Then they are to be added by `insertOn`, which tells it in time. */
    mayChange: record.mayChange,
    /** As `insert`, within the transaction of a session. POOL_NOT_KEPT, after which it must roll back, when rows or ids are changed. */
    insertOn: (session: PoolEntry, into: Into, rows: Rows, deadline: Deadline) =>
      add(session, into, rows, deadline, false),
    /** The rows of a statement, which stays prepared on its connection unless the server is distant. */
    query: (sql: string, values: readonly Value[], deadline: Deadline) =>
      onSession(deadline, (session) => {
        const read = () => roundTrip.measure(() => readPrepared(session.connection, sql, values, isDistant()));
        return runOn(session, deadline, read);
      }),
    /**
     * Adds rows, all or none; gives their ids in the order of the rows. POOL_NOT_UNDERSTOOD when the rows are added, and are not known
     * to be kept as they were sent, under ids that are known.
     */
    insert: (into: Into, rows: Rows, deadline: Deadline) =>
      onSession(deadline, async (session) => {
        refuseLateWrite(deadline, session);
        return add(session, into, rows, deadline, true);
      }),
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
      onSession(deadline, (session) =>
        runOn(session, deadline, () => examine(session.connection, { ...limits, lockMs: session.lockMs })),
      ),
    /** The shortest recent round trip, in ms; 0 before the first measurement. */
    roundTripMs: roundTrip.ms,
  };
}

/** Whether rows have always been kept as they were sent, under the ids that the server told. */
function createKeptRecord(onOtherIds: (() => void) | undefined) {
  // undefined before the first ones. A row that is sent alone may be kept where several have other ids.
  const always: { alone?: boolean; together?: boolean } = {};
  let hasIdRule = true; // of the server that was used last: without it, it is never asked to add several rows
  return {
    noteServer({ idRule }: PoolEntry): void {
      hasIdRule = idRule !== undefined;
    },
    note(count: number, isKept: boolean): void {
      const how = count === 1 ? 'alone' : 'together';
      if (!isKept && how === 'together' && always.together !== false) onOtherIds?.();
      always[how] = isKept && always[how] !== false;
    },
    mayChange(count: number): boolean {
      return count === 1 ? always.alone === false : hasIdRule && always.together !== true;
    },
  };
}

/** Throws POOL_TIMEOUT when the lock wait of a write might end after the deadline. */
function refuseLateWrite(deadline: Deadline, { lockMs }: PoolEntry): void {
  if (remainingMs(deadline) < lockMs) throw new MysqlPoolError('POOL_TIMEOUT', 'too little time is left for a write');
}
