import { performance } from 'node:perf_hooks';
import { createShortestTime } from '../time-meter.ts';

/** The process is busy when its event loop had work for this share of the last moments, which are so many ms. */
const BUSY_SHARE = 0.85;
const BUSY_WINDOW_MS = 20;

/** Statements that take so many times what they take undisturbed wait for each other, at the server or on the way. */
const CROWDED_FACTOR = 2;
/** How long the shortest time of a statement counts, in ms: they may become others. */
const RECENT_MS = 30_000;
/** A database is near when there and back takes so many ms at most, undisturbed. */
export const NEAR_MS = 1.5;
/** How much the newest statement counts, and the most that it may: one that the network has lost says nothing. */
const WEIGHT = 0.1;
const OUTLIER_FACTOR = 4;
/** Patience, in times that a statement takes, and its bound in ms. */
const PATIENCE_FACTOR = 4;
const PATIENCE_MAX_MS = 10;

/**
 * Tells whether a question should wait for others while statements are in flight. `wayMs` is how long a round trip to the database
 * takes, its work left out. Undisturbed is the shortest time of late, as in TCP Vegas, https://doi.org/10.1145/190314.190317.
 */
export function createCongestionMeter(wayMs: () => number) {
  const isBusy = createBusyMeter();
  const undisturbed = createShortestTime(RECENT_MS);
  let recentMs = 0;
  const isFar = () => wayMs() > NEAR_MS;
  return {
    /** A statement was answered after `ms`. */
    note(ms: number): void {
      undisturbed.note(ms);
      recentMs += WEIGHT * (Math.min(ms, OUTLIER_FACTOR * undisturbed.ms()) - recentMs);
    },
    /** Whether the database is so far away that waiting costs more time than it saves work; true as long as nothing is known. */
    isFar,
    /** Whether the process, or a database that is near, has more to do than it can do at once. */
    isCongested: () => (!isFar() && recentMs > CROWDED_FACTOR * undisturbed.ms()) || isBusy(),
    /** How long a question may wait for others meanwhile, in ms: longer than most statements take, within a bound. */
    patienceMs: () => Math.min(PATIENCE_FACTOR * recentMs, PATIENCE_MAX_MS),
  };
}

/** Whether the event loop was busy of late. */
function createBusyMeter(): () => boolean {
  let before = performance.eventLoopUtilization();
  let measuredAt = performance.now();
  let busy = false;
  return () => {
    const now = performance.now();
    if (now - measuredAt > BUSY_WINDOW_MS) {
      const current = performance.eventLoopUtilization();
      busy = performance.eventLoopUtilization(current, before).utilization > BUSY_SHARE;
      before = current;
      measuredAt = now;
    }
    return busy;
  };
}
