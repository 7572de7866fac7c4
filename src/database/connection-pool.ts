import { type Deadline, remainingMs } from '../deadline.ts';

/** What a pool must know of its connections. */
export interface PoolParts<Connection extends object> {
  /** How many may be open at once. */
  readonly max: number;
  /** Opens one, or rejects, within a bounded time. */
  open(): Promise<Connection>;
  /** Whether all that were opened before this one must be left. */
  replacesOthers(connection: Connection): boolean;
  /** Whether a connection that was free may be given out. */
  isUsable(connection: Connection): boolean;
  /** Ends one at once, whatever it is doing: its work fails with `reason`. */
  destroy(connection: Connection, reason: Error): void;
  /** Ends one that is doing nothing; nobody waits for it. */
  end(connection: Connection): void;
}

/** Connections, each used by one at a time. */
export interface ConnectionPool<Connection> {
  /**
   * A connection until `release`, or until the deadline, which destroys it. Rejects at the deadline, and at once when none
   * can be had and none is to come back.
   */
  acquire(deadline: Deadline): Promise<Connection>;
  /** Takes a connection back, in whatever state it is. */
  release(connection: Connection): void;
  /** From now on gives out none that was opened before. */
  leave(): void;
  /** The connections in use, and since when (in ms of `performance.now()`). */
  inUse(): readonly { readonly connection: Connection; readonly since: number }[];
  state(): { used: number; free: number; waiting: number };
  /** Takes no further users, waits for those there are, then ends every connection. */
  close(): Promise<void>;
}

interface Waiter<Connection> {
  readonly since: number;
  readonly deadline: Deadline;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (connection: Connection) => void;
  readonly reject: (error: Error) => void;
}

/** After an opening that failed while connections are in use, the next one waits this long, in ms. */
const REOPEN_MS = 100;
/** How long a free connection is kept, in ms: shorter than what networks forget in silence. */
const IDLE_MS = 30_000;
/** The longest wait that a timer knows, in ms. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** What the pool itself refuses with. */
export function poolError(code: `POOL_${'CLOSED' | 'TIMEOUT' | 'NO_WRITER'}`, message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, cause === undefined ? {} : { cause }), { code });
}

/**
 * A pool whose waits end with their deadlines. Who waits gets what comes first: a connection that comes back, or a new
 * one. An opening that fails refuses those who waited for it only if nothing else can come: no connection is in use.
 */
export function createConnectionPool<Connection extends object>(
  parts: PoolParts<Connection>,
): ConnectionPool<Connection> {
  const free: { readonly connection: Connection; readonly since: number }[] = []; // the one used last is the last
  const leases = new Map<Connection, { readonly since: number; readonly timer: NodeJS.Timeout }>();
  const waiters = new Set<Waiter<Connection>>(); // in the order of their coming
  const generations = new WeakMap<Connection, number>();
  let generation = 0;
  let opening = 0;
  let failure: { readonly error: unknown; readonly at: number } | undefined;
  let reopening: NodeJS.Timeout | undefined;
  let closed: PromiseWithResolvers<void> | undefined;

  const isUsable = (connection: Connection) => generations.get(connection) === generation && parts.isUsable(connection);

  const lend = (connection: Connection, deadline: Deadline): Connection => {
    const giveUp = () => parts.destroy(connection, poolError('POOL_TIMEOUT', 'the database did not answer in time'));
    const timer = setTimeout(giveUp, Math.min(remainingMs(deadline), TIMER_MAX_MS));
    leases.set(connection, { since: performance.now(), timer });
    return connection;
  };

  /** To who waits longest, or kept. */
  const offer = (connection: Connection) => {
    const [next] = waiters;
    if (next === undefined && closed) return parts.end(connection);
    if (next === undefined) return void free.push({ connection, since: performance.now() });
    forget(next);
    next.resolve(lend(connection, next.deadline));
  };

  const forget = (waiter: Waiter<Connection>) => {
    clearTimeout(waiter.timer);
    waiters.delete(waiter);
  };

  const openMore = () => {
    const wanted = Math.min(parts.max - leases.size - free.length, waiters.size) - opening;
    if (wanted <= 0) return;
    const restMs = (failure?.at ?? Number.NEGATIVE_INFINITY) + REOPEN_MS - performance.now();
    if (restMs <= 0 || leases.size === 0) return void Array.from({ length: wanted }, openOne);
    reopening ??= setTimeout(() => {
      reopening = undefined;
      openMore();
    }, restMs);
  };

  const openOne = async () => {
    const [begunAt, begunIn] = [performance.now(), generation];
    opening++;
    try {
      const connection = await parts.open();
      opening--;
      failure = undefined;
      if (begunIn !== generation) parts.end(connection);
      else {
        if (parts.replacesOthers(connection)) leave();
        generations.set(connection, generation);
        offer(connection);
      }
    } catch (error) {
      opening--;
      failure = { error, at: performance.now() };
      if (leases.size === 0) refuse(begunAt, error);
    }
    openMore();
    finishClosing();
  };

  const refuse = (begunAt: number, cause: unknown) => {
    for (const waiter of waiters) {
      if (waiter.since > begunAt) return;
      forget(waiter);
      waiter.reject(cause instanceof Error ? cause : poolError('POOL_TIMEOUT', 'no connection', cause));
    }
  };

  const leave = () => {
    generation++;
    for (const { connection } of free.splice(0)) parts.end(connection);
  };

  const endIdle = () => {
    const keptSince = performance.now() - IDLE_MS;
    while (free[0] !== undefined && free[0].since < keptSince) parts.end(free.shift()?.connection as Connection); // it is there
  };
  const idleTimer = setInterval(endIdle, IDLE_MS / 2).unref();

  const finishClosing = () => {
    if (closed && leases.size + opening + waiters.size === 0) closed.resolve();
  };

  return {
    acquire(deadline) {
      if (closed) return Promise.reject(poolError('POOL_CLOSED', 'the database has been closed'));
      for (let last = free.pop(); last !== undefined; last = free.pop()) {
        if (isUsable(last.connection)) return Promise.resolve(lend(last.connection, deadline));
        parts.end(last.connection);
      }
      const { promise, resolve, reject } = Promise.withResolvers<Connection>();
      const timeOut = () => {
        forget(waiter);
        reject(poolError('POOL_TIMEOUT', 'no connection to the database came free in time', failure?.error));
        finishClosing();
      };
      const timer = setTimeout(timeOut, Math.min(remainingMs(deadline), TIMER_MAX_MS));
      const waiter = { since: performance.now(), deadline, timer, resolve, reject };
      waiters.add(waiter);
      openMore();
      return promise;
    },
    release(connection) {
      clearTimeout(leases.get(connection)?.timer);
      if (!leases.delete(connection)) return;
      if (isUsable(connection)) offer(connection);
      else parts.end(connection);
      openMore();
      finishClosing();
    },
    leave,
    inUse: () => Array.from(leases, ([connection, { since }]) => ({ connection, since })),
    state: () => ({ used: leases.size, free: free.length, waiting: waiters.size }),
    async close() {
      closed ??= Promise.withResolvers<void>();
      clearInterval(idleTimer);
      finishClosing();
      await closed.promise;
      clearTimeout(reopening);
      leave();
    },
  };
}
