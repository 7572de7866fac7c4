import { NEAR_MS } from '../database/batching/congestion.ts';
import type { Database } from '../database/connect.ts';

/** How long a turn may last, in ms: a connection that was lost holds the others up no longer. */
const TURN_MS = 1000;

/** Waits for the turn to take ids; what it gives is to be called when they are committed, or will never be. */
export type CommitOrder = () => Promise<() => void>;

/**
 * One after the other takes ids and commits, so that a reader never sees an id before a smaller one of this process. The
 * order is not promised: other processes do not wait, nor does anybody when the database is far, where it would cost a round
 * trip. SQLite has one writer anyway, and one connection does one thing after the other.
 */
export function createCommitOrder(
  database: Pick<Database, 'engine' | 'connectionsMax' | 'shortestWayMs'>,
): CommitOrder {
  const { engine, connectionsMax, shortestWayMs } = database;
  let last: Promise<void> | undefined;
  return async () => {
    const wayMs = shortestWayMs();
    const isFar = wayMs > NEAR_MS && wayMs !== Number.POSITIVE_INFINITY; // not known: at the begin
    if (engine === 'sqlite' || connectionsMax === 1 || isFar) return () => {};
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    await before;
    setTimeout(resolve, TURN_MS).unref();
    return resolve;
  };
}
