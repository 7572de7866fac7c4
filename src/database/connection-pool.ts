import { type Deadline, remainingMs } from '../deadline.ts';
import { createOpener } from './connection-opener.ts';
import { createConnectionQueue } from './connection-queue.ts';
import { poolError } from './pool-error.ts';

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

/** How long a free connection is kept, in ms: shorter than what networks forget in silence. */
const IDLE_MS = 30_000;
/** The longest wait that a timer knows, in ms. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/**
 * A pool whose waits end with their deadlines. Who waits gets what comes first: a connection that comes back, or a new
 * one. An opening that fails refuses those who waited for it only if nothing else can come: no connection is in use.
 */
export function createConnectionPool<Connection extends object>(
  parts: PoolParts<Connection>,
): ConnectionPool<Connection> {
  const free: Free<Connection>[] = []; // the one used last is the last
  const leases = new Map<Connection, { readonly since: number; readonly timer: NodeJS.Timeout }>();
  const line = createConnectionQueue<Connection>({ onWait: () => opener.openMore(), onTimeout: () => finishClosing() });
  const generations = new WeakMap<Connection, number>();
  let generation = 0;
  let closed: PromiseWithResolvers<void> | undefined;

  const isUsable = (connection: Connection) => generations.get(connection) === generation && parts.isUsable(connection);
  const leave = () => {
    generation++;
    for (const { connection } of free.splice(0)) parts.end(connection);
  };
  const giveUp = (connection: Connection) => {
    parts.destroy(connection, late());
    release(connection); // whoever holds it may never do so
  };
  const lend = (connection: Connection, deadline: Deadline): Connection => {
    leases.set(connection, { since: performance.now(), timer: setTimeout(giveUp, timerMs(deadline), connection) });
    return connection;
  };
  /** To who waits longest, or kept. */
  const offer = (connection: Connection) => {
    const next = line.next();
    if (next) next.resolve(lend(connection, next.deadline));
    else if (closed) parts.end(connection);
    else free.push({ connection, since: performance.now() });
  };
  const admit = (connection: Connection) => {
    if (parts.replacesOthers(connection)) leave();
    generations.set(connection, generation);
    offer(connection);
  };
  const opener = createOpener({
    open: async () => ({ begunIn: generation, connection: await parts.open() }),
    wanted: () => Math.min(parts.max - leases.size - free.length, line.size()),
    mayReturn: () => leases.size > 0,
    opened: ({ connection, begunIn }) => (begunIn === generation ? admit : parts.end)(connection),
    refuse: line.refuse,
    idle: () => finishClosing(),
  });
  const finishClosing = () => void (leases.size + opener.size() + line.size() === 0 && closed?.resolve());
  const release = (connection: Connection) => {
    clearTimeout(leases.get(connection)?.timer);
    if (!leases.delete(connection)) return;
    isUsable(connection) ? offer(connection) : parts.end(connection);
    opener.openMore();
    finishClosing();
  };
  const idleTimer = setInterval(() => endIdle(free, parts.end), IDLE_MS / 2).unref();

  return {
    acquire(deadline) {
      if (closed) return Promise.reject(poolError('POOL_CLOSED', 'the database has been closed'));
      const connection = takeFree(free, isUsable, parts.end);
      if (connection) return Promise.resolve(lend(connection, deadline));
      return line.wait(deadline);
    },
    release,
    leave,
    inUse: () => Array.from(leases, ([connection, { since }]) => ({ connection, since })),
    state: () => ({ used: leases.size, free: free.length, waiting: line.size() }),
    async close() {
      closed ??= Promise.withResolvers<void>();
      clearInterval(idleTimer);
      finishClosing();
      await closed.promise;
      opener.stop();
      leave();
    },
  };
}

interface Free<Connection> {
  readonly connection: Connection;
  readonly since: number;
}

function late(): Error {
  return poolError('POOL_TIMEOUT', 'the database did not answer in time');
}

/** The free connection that was used last, if it is still good. */
function takeFree<Connection>(
  free: Free<Connection>[],
  isUsable: (connection: Connection) => boolean,
  end: (connection: Connection) => void,
): Connection | undefined {
  for (let last = free.pop(); last !== undefined; last = free.pop()) {
    if (isUsable(last.connection)) return last.connection;
    end(last.connection);
  }
  return undefined;
}

function endIdle<Connection>(free: Free<Connection>[], end: (connection: Connection) => void): void {
  const keptSince = performance.now() - IDLE_MS;
  const idle = free.filter(({ since }) => since < keptSince);
  for (const { connection } of free.splice(0, idle.length)) end(connection); // they are the first ones
}

function timerMs(deadline: Deadline): number {
  return Math.min(remainingMs(deadline), TIMER_MAX_MS);
}
