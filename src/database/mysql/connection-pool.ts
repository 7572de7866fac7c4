import { type Deadline, remainingMs } from '../../deadline.ts';
import { poolError } from '../pool-error.ts';

/** What a pool must know of its connections. */
export interface PoolParts<Connection extends object> {
  /** How many may be open at once. */
  readonly max: number;
  /** An opening that takes longer, in ms, has failed; its connection is ended if it comes later. */
  readonly openMs: number;
  open(): Promise<Connection>;
  /** Whether no connection that was opened before this one may be used any more. */
  replacesOthers(connection: Connection): boolean;
  /** Whether a connection can still be used. */
  isUsable(connection: Connection): boolean;
  /** Ends one that is doing nothing; nobody waits for it. */
  end(connection: Connection): void;
}

/** Connections, each used by one at a time. */
export interface ConnectionPool<Connection> {
  /** A connection until `release`. Rejects at the deadline, and at once when none can be had and none is to come back. */
  acquire(deadline: Deadline): Promise<Connection>;
  /** Takes a connection back, in whatever state it is. */
  release(connection: Connection): void;
  /** From now on gives out none that was opened before. */
  abandon(): void;
  state(): { used: number; free: number; waiting: number };
  /** Takes no further users, waits for those there are, then ends every connection. */
  close(): Promise<void>;
}

/** How long an idle connection stays open, in ms: shorter than networks take to forget it. */
const IDLE_MS = 30_000;

/** Openings that began within this time, in ms, are one attempt; while other connections are open, the next one waits so long. */
const REOPEN_MS = 100;

/**
 * A pool whose waits end with their deadlines. A waiter gets what comes first: a connection that is released, or a new
 * one. An opening that fails refuses those who waited for it only if nothing else can come: no connection is leased, and
 * no other opening of its attempt is under way.
 */
export function createConnectionPool<Connection extends object>(
  parts: PoolParts<Connection>,
): ConnectionPool<Connection> {
  const idle = createIdleConnections(parts);
  const leased = new Set<Connection>();
  const finishClosing = () => void (leased.size + opener.size() + queue.size() === 0 && closed?.resolve());
  const queue = createQueue<Connection>();
  let closed: PromiseWithResolvers<void> | undefined;

  const lease = (connection: Connection) => {
    leased.add(connection);
    return connection;
  };
  /** Leases a connection to who waits longest, or lets it be idle. */
  const offer = (connection: Connection) => {
    const waiter = queue.next();
    if (waiter) waiter.resolve(lease(connection));
    else idle.add(connection);
  };
  const opener = createOpener({
    async open() {
      const begunIn = idle.generation();
      const connection = await settleWithin(parts.openMs, parts.open(), parts.end);
      return { begunIn, connection };
    },
    wanted: () => Math.min(parts.max - leased.size - idle.size(), queue.size()),
    mayReturn: () => leased.size > 0,
    opened({ begunIn, connection }) {
      if (begunIn !== idle.generation()) return parts.end(connection);
      if (parts.replacesOthers(connection)) idle.abandon();
      idle.welcome(connection);
      offer(connection);
    },
    refuse: queue.refuse,
    ended: finishClosing,
  });
  const idleTimer = setInterval(idle.endOld, IDLE_MS / 2).unref();

  return {
    async acquire(deadline) {
      if (closed) throw poolError('POOL_CLOSED', 'the database has been closed');
      if (remainingMs(deadline) === 0) throw poolError('POOL_TIMEOUT', 'no time is left for a connection');
      const connection = idle.take();
      if (connection) return lease(connection);
      const waiting = queue.wait(deadline);
      opener.openMore();
      return waiting;
    },
    release(connection) {
      if (!leased.delete(connection)) return;
      if (idle.isUsable(connection)) offer(connection);
      else parts.end(connection);
      opener.openMore();
      finishClosing();
    },
    abandon: idle.abandon,
    state: () => ({ used: leased.size, free: idle.size(), waiting: queue.size() }),
    async close() {
      closed ??= Promise.withResolvers<void>();
      clearInterval(idleTimer);
      finishClosing();
      await closed.promise;
      idle.abandon();
    },
  };
}

/** Connections that nobody uses now; those of an earlier generation are never used again. */
function createIdleConnections<Connection extends object>(parts: Pick<PoolParts<Connection>, 'isUsable' | 'end'>) {
  const idle: { readonly connection: Connection; readonly since: number }[] = []; // the one used last is the last
  const generations = new WeakMap<Connection, number>();
  let generation = 0;
  const isUsable = (connection: Connection) => generations.get(connection) === generation && parts.isUsable(connection);
  return {
    generation: () => generation,
    /** Makes a new connection one of the present generation. */
    welcome: (connection: Connection) => void generations.set(connection, generation),
    isUsable,
    add: (connection: Connection) => void idle.push({ connection, since: performance.now() }),
    /** The usable one that was used last. */
    take(): Connection | undefined {
      for (let last = idle.pop(); last !== undefined; last = idle.pop()) {
        if (isUsable(last.connection)) return last.connection;
        parts.end(last.connection);
      }
      return undefined;
    },
    /** Ends those that nobody has used for a while. */
    endOld() {
      const usedSince = performance.now() - IDLE_MS;
      const old = idle.filter(({ since }) => since < usedSince);
      for (const { connection } of idle.splice(0, old.length)) parts.end(connection); // they are the first ones
    },
    /** Begins a new generation. */
    abandon() {
      generation++;
      for (const { connection } of idle.splice(0)) parts.end(connection);
    },
    size: () => idle.length,
  };
}

/** Who waits for a connection, in the order of their coming. */
function createQueue<Connection>() {
  type Waiter = Pick<PromiseWithResolvers<Connection>, 'resolve' | 'reject'> & { since: number; timer: NodeJS.Timeout };
  const waiters = new Set<Waiter>();
  const dequeue = (waiter: Waiter) => {
    clearTimeout(waiter.timer);
    waiters.delete(waiter);
  };
  return {
    /** A connection; rejects at the deadline. */
    wait(deadline: Deadline): Promise<Connection> {
      const { promise, resolve, reject } = Promise.withResolvers<Connection>();
      const timeOut = () => {
        waiters.delete(waiter);
        reject(poolError('POOL_TIMEOUT', 'no connection to the database came free in time'));
      };
      const timer = setTimeout(timeOut, Math.min(remainingMs(deadline), 2 ** 31 - 1));
      const waiter = { since: performance.now(), timer, resolve, reject };
      waiters.add(waiter);
      return promise;
    },
    /** Who waits longest; leaves the queue. */
    next(): Waiter | undefined {
      const [waiter] = waiters;
      if (waiter) dequeue(waiter);
      return waiter;
    },
    /** Refuses all who have waited since before a moment of `performance.now()`. */
    refuse(before: number, reason: unknown) {
      for (const waiter of waiters) {
        if (waiter.since > before) return;
        dequeue(waiter);
        waiter.reject(reason);
      }
    },
    size: () => waiters.size,
  };
}

/** What an opener asks and tells. */
interface OpenerParts<Opened> {
  /** Opens one, or rejects, within a bounded time. */
  open(): Promise<Opened>;
  /** How many are wanted now, those under way included. */
  wanted(): number;
  /** Whether one that is leased may come back: then nobody is refused. */
  mayReturn(): boolean;
  opened(opened: Opened): void;
  /** Nothing can come for those who have waited since before a moment. */
  refuse(before: number, reason: unknown): void;
  /** An opening has ended, well or not. */
  ended(): void;
}

/** Opens as many connections as are wanted; a server that refuses is asked for one attempt at a time. */
function createOpener<Opened>(parts: OpenerParts<Opened>) {
  const underWay = new Set<{ readonly begunAt: number }>();
  let failedAt = Number.NEGATIVE_INFINITY;
  let isResting = false;

  const openMore = () => {
    const wanted = parts.wanted() - underWay.size;
    if (wanted <= 0) return;
    const restMs = failedAt + REOPEN_MS - performance.now();
    // One that has failed is not replaced while others of its attempt are under way: their failures would never be the last.
    if (restMs <= 0 || (underWay.size === 0 && !parts.mayReturn())) {
      for (let count = 0; count < wanted; count++) void openOne();
      return;
    }
    if (isResting) return;
    isResting = true;
    setTimeout(() => {
      isResting = false;
      openMore();
    }, restMs).unref();
  };
  const openOne = async () => {
    const own = { begunAt: performance.now() };
    underWay.add(own);
    try {
      const opened = await parts.open();
      underWay.delete(own);
      failedAt = Number.NEGATIVE_INFINITY;
      parts.opened(opened);
    } catch (error) {
      underWay.delete(own);
      failedAt = performance.now();
      const attemptEnds = own.begunAt + REOPEN_MS;
      const [oldest] = underWay;
      const mayCome = parts.mayReturn() || (oldest !== undefined && oldest.begunAt < attemptEnds);
      if (!mayCome) parts.refuse(attemptEnds, error);
    }
    openMore();
    parts.ended();
  };
  return { openMore, size: () => underWay.size };
}

/** What `work` gives, or a rejection after `ms`; what comes later is handed to `tooLate`. */
function settleWithin<Value>(ms: number, work: Promise<Value>, tooLate: (value: Value) => void): Promise<Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value>();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    reject(poolError('POOL_TIMEOUT', 'no connection could be opened in time'));
  }, ms);
  work.then((value) => (isOver ? tooLate(value) : resolve(value)), reject).finally(() => clearTimeout(timer));
  return promise;
}
