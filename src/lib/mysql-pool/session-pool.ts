import { type Deadline, remainingMs } from '../deadline/deadline.ts';
import { means } from '../mysql-errors/mysql-errors.ts';
import type { MysqlSession } from './mysql-session.ts';
import { asFatal, isUnderstood, MysqlPoolError } from './pool-error.ts';
import type { RoundTrip } from './round-trip.ts';
import type { PoolTimes } from './session-settings.ts';

/** What the pool is told. */
export interface SessionPoolOptions {
  readonly max: number;
  /** Opens a session; must settle within a bounded time. */
  readonly open: () => Promise<MysqlSession>;
  readonly times: Pick<PoolTimes, 'roleIntervalMs' | 'roleTimeoutMs' | 'roleMaxAgeMs'>;
  readonly roundTrip: RoundTrip;
}

/** A session in the pool. */
export interface PoolEntry extends MysqlSession {
  readonly generation: number;
  readonly expiresAt: number;
  idleSince: number;
}

interface Waiter extends Pick<PromiseWithResolvers<PoolEntry>, 'resolve' | 'reject'> {
  readonly timer: NodeJS.Timeout;
}

/** The idle timeout of a connection, in ms; firewalls and NAT drop idle connections later. */
const IDLE_MS = 30_000;
/** The maximum lifetime of a connection, in ms, ± 20 %. A new connection notices when the server's address has changed. */
const LIFETIME_MS = 30 * 60_000;
/** The maximum lifetime of a connection to a lone read-only server, in ms: it may soon take writes or be replaced. */
const READ_ONLY_LIFETIME_MS = 250;
/** The delay after a failed opening, in ms, while other connections are open or opening. */
const REOPEN_MS = 100;
/** The shortest time between two new generations because of errors of statements, in ms. */
const STALE_INTERVAL_MS = 1000;

const createState = (options: SessionPoolOptions) => ({
  ...options,
  idle: [] as PoolEntry[], // the most recently used one is the last
  inUse: 0, // number of connections that are lent
  waiters: new Set<Waiter>(),
  opening: 0, // number of connections that are being opened
  backOff: undefined as NodeJS.Timeout | undefined, // runs for REOPEN_MS after a failed opening
  staleAt: Number.NEGATIVE_INFINITY,
  generation: 0,
  newest: undefined as MysqlSession | undefined,
  closed: undefined as PromiseWithResolvers<void> | undefined,
});
type PoolState = ReturnType<typeof createState>;

/**
 * A pool of at most `max` sessions to the server that takes writes. A new generation begins when that server is lost, no longer
 * takes writes, or is replaced at its address, and when the members of its Galera cluster are found to have changed. Pool entries of
 * earlier generations are not lent again, so no read comes from the old server.
 */
export function createSessionPool(options: SessionPoolOptions) {
  const pool = createState(options);
  const { roleTimeoutMs } = options.times;
  const idleTimer = setInterval(() => closeIdle(pool), IDLE_MS / 2).unref();
  return {
    /**
     * Lends a session until `release`; callers wait in a queue. Its last role check is at most `roleMaxAgeMs` old. Rejects at the
     * deadline, and when a connection cannot be opened while no other session is in use or opening.
     */
    acquire: (deadline: Deadline) => acquire(pool, deadline),
    /** Takes a session back, once, in any state. Checks its role first when the last check is older than `roleIntervalMs`. */
    release(entry: PoolEntry): void {
      if (isCheckOlderThan(entry, roleIntervalMs(pool)) && isUsable(pool, entry))
        void validate(pool, entry, roleTimeoutMs).then(() => takeBack(pool, entry));
      else takeBack(pool, entry);
    },
    /**
     * Runs `work` on the session's connection (see `exchange`) and gives its result. The errors `readOnly` and `notReady` close the
     * connection and, as `staleSession` does, begin a new generation; `sessionEnded` only closes the connection.
     */
    async runOn<Answer>(entry: PoolEntry, deadline: Deadline, work: () => PromiseLike<Answer>): Promise<Answer> {
      try {
        return await entry.connection.exchange(deadline, work);
      } catch (error) {
        const doubt = await findDoubt(pool, entry, error, Math.min(roleTimeoutMs, remainingMs(deadline)));
        handleError(pool, error, entry);
        throw doubt === undefined ? error : new MysqlPoolError('POOL_NOT_UNDERSTOOD', doubt, error);
      }
    },
    /** Whether the server took writes when the newest session was opened. */
    takesWrites: () => pool.newest?.role === 'writable',
    /** The newest session's max_allowed_packet, in bytes. */
    packetBytes: () => pool.newest?.packetBytes ?? Number.POSITIVE_INFINITY,
    state: () => ({ used: pool.inUse, free: pool.idle.length, waiting: pool.waiters.size }),
    /** Refuses further callers, waits for the connections in use and for the waiters, then ends every connection. */
    async close(): Promise<void> {
      pool.closed ??= Promise.withResolvers<void>();
      clearInterval(idleTimer);
      finishClosing(pool);
      await pool.closed.promise;
      beginGeneration(pool);
    },
  };
}

// Lending

async function acquire(pool: PoolState, deadline: Deadline): Promise<PoolEntry> {
  if (pool.closed) throw new MysqlPoolError('POOL_CLOSED', 'the database has been closed');
  for (;;) {
    if (remainingMs(deadline) === 0) throw new MysqlPoolError('POOL_TIMEOUT', 'no time is left for a connection');
    const entry = takeIdle(pool) ?? (await wait(pool, deadline));
    if (!isCheckOlderThan(entry, pool.times.roleMaxAgeMs)) return entry;
    const isGood = await validate(pool, entry, Math.min(remainingMs(deadline), pool.times.roleTimeoutMs));
    if (isGood && isUsable(pool, entry)) return entry; // another server may have been found meanwhile
    takeBack(pool, entry);
  }
}

function takeIdle(pool: PoolState): PoolEntry | undefined {
  for (let entry = pool.idle.pop(); entry; entry = pool.idle.pop()) {
    if (isUsable(pool, entry)) {
      pool.inUse++;
      return entry;
    }
    entry.connection.end();
  }
  return undefined;
}

function takeBack(pool: PoolState, entry: PoolEntry): void {
  pool.inUse--;
  offer(pool, entry);
  openMore(pool);
  finishClosing(pool);
}

/** Lends a free session to the first waiter, or makes it idle. */
function offer(pool: PoolState, entry: PoolEntry): void {
  if (!isUsable(pool, entry)) return void entry.connection.end();
  entry.idleSince = performance.now();
  const waiter = nextWaiter(pool);
  if (waiter === undefined) return void pool.idle.push(entry);
  pool.inUse++;
  waiter.resolve(entry);
}

function isUsable({ generation }: PoolState, entry: PoolEntry): boolean {
  return entry.generation === generation && entry.expiresAt > performance.now() && entry.connection.isOpen();
}

function closeIdle({ idle }: PoolState): void {
  const usedSince = performance.now() - IDLE_MS;
  const count = idle.findLastIndex(({ idleSince }) => idleSince < usedSince) + 1;
  for (const { connection } of idle.splice(0, count)) connection.end();
}

function finishClosing({ inUse, opening, waiters, closed }: PoolState): void {
  if (inUse + opening + waiters.size === 0) closed?.resolve();
}

// Waiting

function wait(pool: PoolState, deadline: Deadline): Promise<PoolEntry> {
  const { promise, resolve, reject } = Promise.withResolvers<PoolEntry>();
  const timeOut = () => {
    pool.waiters.delete(waiter);
    reject(new MysqlPoolError('POOL_TIMEOUT', 'no connection to the database came free in time'));
  };
  const waiter = { resolve, reject, timer: setTimeout(timeOut, Math.min(remainingMs(deadline), 2 ** 31 - 1)) };
  pool.waiters.add(waiter);
  openMore(pool);
  return promise;
}

/** Takes the first waiter from the queue. */
function nextWaiter({ waiters }: PoolState): Waiter | undefined {
  const [waiter] = waiters;
  if (waiter === undefined) return undefined;
  clearTimeout(waiter.timer);
  waiters.delete(waiter);
  return waiter;
}

// Opening

/** Opens connections for the waiters. After a failure it backs off for REOPEN_MS, while others are in use or opening. */
function openMore(pool: PoolState): void {
  const missing = Math.min(pool.max - pool.inUse - pool.idle.length, pool.waiters.size) - pool.opening;
  if (pool.opening + pool.inUse > 0 && pool.backOff) return;
  for (let count = 0; count < missing; count++) void openOne(pool);
}

async function openOne(pool: PoolState): Promise<void> {
  const begunIn = pool.generation;
  pool.opening++;
  const [outcome] = await Promise.allSettled([pool.open()]);
  pool.opening--;
  if (outcome.status === 'rejected') fail(pool, outcome.reason);
  else if (begunIn === pool.generation) add(pool, outcome.value);
  else outcome.value.connection.end();
  openMore(pool);
  finishClosing(pool);
}

function add(pool: PoolState, session: MysqlSession): void {
  if (pool.newest !== undefined && pool.newest.identity !== session.identity) beginGeneration(pool);
  pool.newest = session;
  const lifetimeMs = session.role === 'writable' ? LIFETIME_MS * (0.8 + 0.4 * Math.random()) : READ_ONLY_LIFETIME_MS;
  const now = performance.now();
  const { generation } = pool;
  offer(pool, { ...session, generation, expiresAt: now + lifetimeMs, idleSince: now });
}

function fail(pool: PoolState, reason: unknown): void {
  clearTimeout(pool.backOff);
  // The timer itself ends it: Node's may fire a part of a ms before a clock says that the time is over.
  pool.backOff = setTimeout(() => {
    pool.backOff = undefined;
    openMore(pool);
  }, REOPEN_MS).unref();
  if (pool.opening + pool.inUse > 0) return;
  for (let waiter = nextWaiter(pool); waiter; waiter = nextWaiter(pool)) waiter.reject(reason);
}

// Role checks

/** A distant server is asked less often: a request that needs several round trips would wait for a check between them. */
function roleIntervalMs({ roundTrip, times }: PoolState): number {
  return Math.min(Math.max(times.roleIntervalMs, 4 * roundTrip.ms()), times.roleMaxAgeMs - times.roleIntervalMs);
}

function isCheckOlderThan({ role, checkedAt }: PoolEntry, ms: number): boolean {
  return role === 'writable' && performance.now() - checkedAt > ms;
}

/** Checks whether the server still takes writes; begins a new generation if not. */
async function validate(pool: PoolState, entry: PoolEntry, limitMs: number): Promise<boolean> {
  entry.checkedAt = performance.now();
  const isGood = await pool.roundTrip.measure(() => entry.stillTakesWrites(limitMs)).catch(() => false);
  if (isGood || entry.generation !== pool.generation) return isGood;
  // After a shorter timeout than `roleTimeoutMs`, only this connection is suspect.
  if (limitMs === pool.times.roleTimeoutMs || entry.connection.isOpen()) beginGeneration(pool);
  return false;
}

function beginGeneration(pool: PoolState): void {
  pool.generation++;
  for (const { connection } of pool.idle.splice(0)) connection.end();
}

/** Asks the server whether an error that says that nothing was done is true; gives why it may not be. Begins a new generation for new members. */
async function findDoubt(pool: PoolState, entry: PoolEntry, error: unknown, limitMs: number) {
  const { connection, role, isSurelyUndone, stillTakesWrites } = entry;
  if (isSurelyUndone && means(error, 'rolledBack') && !(await isSurelyUndone(limitMs))) {
    // A session knows the members that there were when it began, so those of its age would doubt every later rollback, too.
    if (connection.isOpen() && entry.generation === pool.generation) beginGeneration(pool);
    return 'members of the cluster have changed: it may have been done';
  }
  // MaxScale calls a write that was under way so when its server is lost,
  // https://mariadb.com/kb/en/mariadb-maxscale-2308-readwritesplit/#master_failure_mode
  const isRefusal = role === 'writable' && means(error, 'readOnly') && means(error, 'notBegun');
  // A connection that has ended repeats its reason, about which the server was asked before.
  if (isRefusal && connection.isOpen() && (await stillTakesWrites(limitMs).catch(() => true)))
    return 'a server that takes writes says that it takes none: it may have been done';
  return undefined;
}

/** Closes the connection or begins a new generation, if the error shows that either is unusable. */
function handleError(pool: PoolState, error: unknown, { connection, role, generation }: PoolEntry): void {
  const isRefusal = role === 'writable' && means(error, 'readOnly', 'notReady');
  // A member that has lost its cluster refuses ROLLBACK, too, and its transaction stays open. The next write would join that
  // transaction and be acknowledged without a COMMIT; the next BEGIN would commit writes that were answered with 503.
  // The same error for a ROLLBACK: Knex gives the caller that one, who learns from it that nothing was begun.
  // And the rest of an answer that mysql2 could not parse would be taken for the answer to the next command.
  const isOver = isRefusal || means(error, 'sessionEnded'); // the server's end may come after the next use has begun
  if (isOver || (connection.isOpen() && !isUnderstood(error))) connection.destroy(asFatal(error));
  if (generation !== pool.generation || !(isRefusal || means(error, 'staleSession'))) return;
  // A server may say so to every statement; all connections of a generation as young as this have just asked it for its role.
  const now = performance.now();
  if (now <= pool.staleAt + STALE_INTERVAL_MS) return;
  pool.staleAt = now;
  beginGeneration(pool);
}
