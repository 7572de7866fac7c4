import { REQUEST_MS } from './deadlines.ts';

/** The moment by which work must have its answer, in ms of `performance.now()`. */
export type Deadline = number;

/** The deadline `ms` from now; by default a request's. */
export function deadlineIn(ms: number = REQUEST_MS): Deadline {
  return performance.now() + ms;
}

/** What is left until a deadline, in ms: 0 when it is over. */
export function remainingMs(deadline: Deadline): number {
  return Math.max(0, deadline - performance.now());
}

/** How often deadlines are checked, in ms: one timer for all is cheaper than one for each wait. */
const WATCH_MS = 50;

/** Gives the function that begins a watch, if there is none: `look` runs every 50 ms until it returns false. */
export function watchDeadlines(look: () => boolean): () => void {
  let isWatching = false;
  const again = () => {
    isWatching = look();
    if (isWatching) setTimeout(again, WATCH_MS).unref();
  };
  return () => {
    if (!isWatching) setTimeout(again, WATCH_MS).unref();
    isWatching = true;
  };
}
