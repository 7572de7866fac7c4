import { type Deadline, remainingMs } from '../../deadline.ts';
import { poolError } from '../pool-error.ts';
import { createFreeConnections, createLeases, IDLE_MS, type PoolParts } from './connection-keeping.ts';
import { createOpener } from './connection-opener.ts';
import { createConnectionQueue } from './connection-queue.ts';

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
  /** The connections in use. */
  inUse(): readonly Connection[];
  state(): { used: number; free: number; waiting: number };
  /** Takes no further users, waits for those there are, then ends every connection. */
  close(): Promise<void>;
}

/**
 * A pool whose waits end with their deadlines. Who waits gets what comes first: a connection that comes back, or a new
 * one. An opening that fails refuses those who waited for it only if nothing else can come: no connection is in use.
 */
export function createConnectionPool<Connection extends object>(
  parts: PoolParts<Connection>,
): ConnectionPool<Connection> {
  const free = createFreeConnections(parts);
  // A connection whose deadline is over is taken back at once: whoever holds it may never do so.
  const leases = createLeases(parts.destroy, (connection) => release(connection));
  const line = createConnectionQueue<Connection>({ onWait: () => opener.openMore(), onTimeout: () => finishClosing() });
  let closed: PromiseWithResolvers<void> | undefined;

  /** To who waits longest, or kept. */
  const offer = (connection: Connection) => {
    const next = line.next();
    if (next) next.resolve(leases.begin(connection, next.deadline));
    else if (closed) parts.end(connection);
    else free.keep(connection);
  };
  const admit = (connection: Connection) => {
    if (parts.replacesOthers(connection)) free.leave();
    free.welcome(connection);
    offer(connection);
  };
  const opener = createOpener({
    open: async () => ({ begunIn: free.generation(), connection: await parts.open() }),
    wanted: () => Math.min(parts.max - leases.size() - free.size(), line.size()),
    mayReturn: () => leases.size() > 0,
    opened: ({ connection, begunIn }) => (begunIn === free.generation() ? admit : parts.end)(connection),
    refuse: line.refuse,
    ended: () => finishClosing(),
  });
  const finishClosing = () => void (leases.size() + opener.size() + line.size() === 0 && closed?.resolve());
  const release = (connection: Connection) => {
    if (!leases.end(connection)) return;
    free.isUsable(connection) ? offer(connection) : parts.end(connection);
    opener.openMore();
    finishClosing();
  };
  const idleTimer = setInterval(free.endIdle, IDLE_MS / 2).unref();

  return {
    acquire(deadline) {
      if (closed) return Promise.reject(poolError('POOL_CLOSED', 'the database has been closed'));
      if (remainingMs(deadline) === 0)
        return Promise.reject(poolError('POOL_TIMEOUT', 'no time is left for a connection'));
      const connection = free.take();
      return connection ? Promise.resolve(leases.begin(connection, deadline)) : line.wait(deadline);
    },
    release,
    leave: free.leave,
    inUse: leases.list,
    state: () => ({ used: leases.size(), free: free.size(), waiting: line.size() }),
    async close() {
      closed ??= Promise.withResolvers<void>();
      clearInterval(idleTimer);
      finishClosing();
      await closed.promise;
      opener.stop();
      free.leave();
    },
  };
}
