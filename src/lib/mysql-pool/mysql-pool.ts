// biome-ignore-all lint/performance/noBarrelFile: a library has one entry; README.md says what for
import { type Deadline, remainingMs } from '../deadline/deadline.ts';
import { type AddedRows, areKept, createKeptRecord, type Into, insertRows, type Rows, readKept } from './added-rows.ts';
import { openSession, type SessionOptions } from './mysql-session.ts';
import { MysqlPoolError } from './pool-error.ts';
import { readPrepared, type Value } from './prepared-statements.ts';
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
  const send = (session: PoolEntry, into: Into, rows: Rows, deadline: Deadline) => {
    record.noteServer(session);
    return runOn(session, deadline, () => insertRows(session, into, rows, isDistant()));
  };
  /** The ids of rows that were sent. POOL_NOT_KEPT when they are not kept so. */
  const confirm = async (session: PoolEntry, into: Into, rows: Rows, sent: AddedRows, deadline: Deadline) => {
    const read = () => readKept(session, into, sent.ids, isDistant());
    const isKept = areKept(into, rows, sent.ids, sent.kept ?? (await runOn(session, deadline, read)));
    record.note(rows.length, isKept);
    if (isKept) return sent.ids;
    throw new MysqlPoolError('POOL_NOT_KEPT', 'the database changes a row, or its id, by a trigger or a type');
  };
  return {
    ...pool,
    /** Whether the database may change so many rows, or their ids. Then they are to be added by `insertOn`, which tells it in time. */
    mayChange: record.mayChange,
    /** As `insert`, within the transaction of a session. POOL_NOT_KEPT, after which it must roll back, when rows or ids are changed. */
    insertOn: async (session: PoolEntry, into: Into, rows: Rows, deadline: Deadline) =>
      confirm(session, into, rows, await send(session, into, rows, deadline), deadline),
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
        const sent = await send(session, into, rows, deadline);
        return confirm(session, into, rows, sent, deadline).catch((error: unknown) => {
          const message = 'rows were added, and are not known to be kept as they were sent';
          throw new MysqlPoolError('POOL_NOT_UNDERSTOOD', message, error);
        });
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

/** Throws POOL_TIMEOUT when the lock wait of a write might end after the deadline. */
function refuseLateWrite(deadline: Deadline, { lockMs }: PoolEntry): void {
  if (remainingMs(deadline) < lockMs) throw new MysqlPoolError('POOL_TIMEOUT', 'too little time is left for a write');
}
