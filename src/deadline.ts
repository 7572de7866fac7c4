/** The moment by which work must have its answer, in ms of `performance.now()`. */
export type Deadline = number;

/** How long a request may take from its last byte to its answer, in ms. */
export const REQUEST_MS = 5000;

/** The deadline `ms` from now; by default a request's. */
export function deadlineIn(ms: number = REQUEST_MS): Deadline {
  return performance.now() + ms;
}

/** What is left until a deadline, in ms: 0 when it is over. */
export function remainingMs(deadline: Deadline): number {
  return Math.max(0, deadline - performance.now());
}
