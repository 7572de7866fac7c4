/** The moment by which work must be done, in ms of `performance.now()`. */
export type Deadline = number;

/** The deadline `ms` from now. */
export function deadlineIn(ms: number): Deadline {
  return performance.now() + ms;
}

/** The time left until a deadline, in ms; 0 when it has passed. */
export function remainingMs(deadline: Deadline): number {
  return Math.max(0, deadline - performance.now());
}

/** How often deadlines are checked, in ms. One timer for all waits is cheaper than a timer for each. */
const WATCH_MS = 50;

/** Gives a function that starts a timer, unless it runs already. The timer calls `look` every WATCH_MS until `look` returns false. */
export function watchDeadlines(look: () => boolean): () => void {
  let isWatching = false;
  const again = () => {
    isWatching = look();
    if (isWatching) wait();
  };
  // Timers come before input: after a pause of the process, an answer that has come meanwhile is read before anybody is late.
  const wait = () => setTimeout(() => setImmediate(again), WATCH_MS).unref();
  return () => {
    if (!isWatching) wait();
    isWatching = true;
  };
}
