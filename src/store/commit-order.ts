import { NEAR_MS } from '../database/batching.ts';
import type { Database } from '../database/connect.ts';

/** How long a turn may last, in ms: a connection that was lost holds the others up no longer. */
const TURN_MS = 1000;

/**
 * Gives `takeTurn`, which waits for the turn to take ids. Its result ends the turn: call it when the ids are committed, or never
 * will be. So no reader sees an id before a smaller one of this process. Other processes do not wait, and beyond `NEAR_MS`
 * nobody does, because it would cost a round trip. One connection does one thing after the other anyway.
 */
export function createCommitOrder(database: Pick<Database, 'connectionsMax' | 'roundTripMs'>) {
  let last = Promise.resolve();
  return async (): Promise<() => void> => {
    if (database.connectionsMax === 1 || database.roundTripMs() > NEAR_MS) return () => {};
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    await before;
    setTimeout(resolve, TURN_MS).unref();
    return resolve;
  };
}
