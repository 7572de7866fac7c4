import { type Deadline, remainingMs, watchDeadlines } from '../../deadline.ts';
import { poolError } from '../pool-error.ts';

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

/** How long a free connection is kept, in ms: shorter than what networks forget in silence. */
export const IDLE_MS = 30_000;

/** Connections that nobody uses now; those of an earlier generation are never used again. */
export interface FreeConnections<Connection> {
  generation(): number;
  /** Makes a new connection one of the present generation. */
  welcome(connection: Connection): void;
  isUsable(connection: Connection): boolean;
  keep(connection: Connection): void;
  /** The usable one that was used last. */
  take(): Connection | undefined;
  /** Ends those that nobody has used for a while. */
  endIdle(): void;
  /** Begins a new generation. */
  leave(): void;
  size(): number;
}

/** No free connections yet. */
export function createFreeConnections<Connection extends object>(
  parts: Pick<PoolParts<Connection>, 'isUsable' | 'end'>,
): FreeConnections<Connection> {
  const free: { readonly connection: Connection; readonly since: number }[] = []; // the one used last is the last
  const generations = new WeakMap<Connection, number>();
  let generation = 0;
  const isUsable = (connection: Connection) => generations.get(connection) === generation && parts.isUsable(connection);
  return {
    generation: () => generation,
    welcome: (connection) => void generations.set(connection, generation),
    isUsable,
    keep: (connection) => void free.push({ connection, since: performance.now() }),
    take() {
      for (let last = free.pop(); last !== undefined; last = free.pop()) {
        if (isUsable(last.connection)) return last.connection;
        parts.end(last.connection);
      }
      return undefined;
    },
    endIdle() {
      const keptSince = performance.now() - IDLE_MS;
      const idle = free.filter(({ since }) => since < keptSince);
      for (const { connection } of free.splice(0, idle.length)) parts.end(connection); // they are the first ones
    },
    leave() {
      generation++;
      for (const { connection } of free.splice(0)) parts.end(connection);
    },
    size: () => free.length,
  };
}

/** Connections in use, each until a deadline. */
export interface Leases<Connection> {
  begin(connection: Connection, deadline: Deadline): Connection;
  /** False when it had ended before. */
  end(connection: Connection): boolean;
  list(): readonly Connection[];
  size(): number;
}

/** No leases yet; a connection that is in use at its deadline is destroyed, and then `overdue`. */
export function createLeases<Connection extends object>(
  destroy: PoolParts<Connection>['destroy'],
  overdue: (connection: Connection) => void,
): Leases<Connection> {
  const leases = new Map<Connection, Deadline>();
  const watch = watchDeadlines(() => {
    for (const [connection, deadline] of leases) if (remainingMs(deadline) === 0) giveUp(connection);
    return leases.size > 0;
  });
  const giveUp = (connection: Connection) => {
    destroy(connection, poolError('POOL_TIMEOUT', 'the database did not answer in time'));
    overdue(connection);
  };
  return {
    begin(connection, deadline) {
      leases.set(connection, deadline);
      watch();
      return connection;
    },
    end: (connection) => leases.delete(connection),
    list: () => [...leases.keys()],
    size: () => leases.size,
  };
}
