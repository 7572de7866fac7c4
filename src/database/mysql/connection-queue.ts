import { type Deadline, remainingMs } from '../../deadline.ts';
import { poolError } from '../pool-error.ts';

/** Who waits for a connection, and until when. */
interface Waiter<Connection> {
  readonly since: number;
  readonly deadline: Deadline;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (connection: Connection) => void;
  readonly reject: (error: Error) => void;
}

/** Those who wait for a connection, in the order of their coming. */
export interface ConnectionQueue<Connection> {
  /** A connection; rejects at the deadline. */
  wait(deadline: Deadline): Promise<Connection>;
  /** Who waits longest; leaves the queue. */
  next(): Pick<Waiter<Connection>, 'resolve' | 'deadline'> | undefined;
  /** Refuses all who have waited since before a moment of `performance.now()`. */
  refuse(before: number, cause: unknown): void;
  size(): number;
}

/** An empty queue; it tells when somebody begins to wait, and when a wait has ended with its deadline. */
export function createConnectionQueue<Connection>(told: {
  onWait(): void;
  onTimeout(): void;
}): ConnectionQueue<Connection> {
  const waiters = new Set<Waiter<Connection>>();
  const forget = (waiter: Waiter<Connection>) => {
    clearTimeout(waiter.timer);
    waiters.delete(waiter);
  };
  return {
    wait(deadline) {
      const { promise, resolve, reject } = Promise.withResolvers<Connection>();
      const timeOut = () => {
        forget(waiter);
        reject(poolError('POOL_TIMEOUT', 'no connection to the database came free in time'));
        told.onTimeout();
      };
      const timer = setTimeout(timeOut, Math.min(remainingMs(deadline), 2 ** 31 - 1));
      const waiter = { since: performance.now(), deadline, timer, resolve, reject };
      waiters.add(waiter);
      told.onWait();
      return promise;
    },
    next() {
      const [waiter] = waiters;
      if (waiter) forget(waiter);
      return waiter;
    },
    refuse(before, cause) {
      for (const waiter of waiters) {
        if (waiter.since > before) return;
        forget(waiter);
        waiter.reject(cause instanceof Error ? cause : poolError('POOL_TIMEOUT', 'no connection', cause));
      }
    },
    size: () => waiters.size,
  };
}
