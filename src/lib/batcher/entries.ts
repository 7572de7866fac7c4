import { type Deadline, remainingMs } from '../deadline/deadline.ts';

/** The size limit of a batch, in bytes. A larger input is sent alone: no other input waits for its upload. */
const BATCH_BYTES = 256 * 1024;

/** Who waits for an answer, and until when. */
export interface Waiter<Answer> extends Pick<PromiseWithResolvers<Answer>, 'resolve' | 'reject'> {
  readonly deadline: Deadline;
}

/** An input and the waiters for its answer. */
export interface Entry<Input, Answer> {
  readonly input: Input;
  readonly bytes: number;
  readonly key: unknown;
  readonly group: unknown;
  waiters: Waiter<Answer>[];
}

/** Entries in flight, and when they were sent, in ms of `performance.now()`. */
export interface Statement<Input, Answer> {
  readonly entries: readonly Entry<Input, Answer>[];
  readonly sentAt: number;
}

/** Whether more than `most` waiters are in flight and in the queue. */
export function exceeds(
  most: number,
  inFlight: readonly Statement<unknown, never>[],
  queue: ReadonlyMap<unknown, Entry<unknown, never>>,
): boolean {
  let count = 0;
  const isBeyond = ({ waiters }: Entry<unknown, never>) => {
    count += waiters.length;
    return count > most;
  };
  if (inFlight.some(({ entries }) => entries.some(isBeyond))) return true;
  for (const entry of queue.values()) if (isBeyond(entry)) return true; // compiled, unlike `some` of an iterator
  return false;
}

/** The oldest entry of the queue, and further ones of its group, within the limits of inputs, bytes and the spread of deadlines. */
export function nextBatch<Input, Answer>(
  queue: ReadonlyMap<unknown, Entry<Input, Answer>>,
  size: number,
  spreadMs?: number,
) {
  const batch: Entry<Input, Answer>[] = [];
  let [bytes, earliest, latest] = [0, Number.POSITIVE_INFINITY, 0];
  for (const entry of queue.values()) {
    if (batch[0] && entry.group !== batch[0].group) continue;
    if (spreadMs !== undefined) {
      const due = latestDeadline([entry]);
      if (batch[0] && Math.max(latest, due) - Math.min(earliest, due) > spreadMs) continue;
      earliest = Math.min(earliest, due);
      latest = Math.max(latest, due);
    }
    bytes += entry.bytes;
    if (batch.length === size || (batch.length > 0 && bytes > BATCH_BYTES)) break;
    batch.push(entry);
  }
  return batch;
}

/** Answers the waiters of entries. */
export function answerAll<Answer>(entries: readonly Entry<unknown, Answer>[], answers: readonly Answer[]): void {
  for (const [index, { waiters }] of entries.entries())
    for (const { resolve } of waiters) resolve(answers[index] as Answer); // one for each entry
}

/** The inputs of entries, in their order. */
export function inputsOf<Input>(entries: readonly Entry<Input, never>[]): readonly Input[] {
  return entries.map(({ input }) => input);
}

/** The latest deadline of the waiters of entries. */
export function latestDeadline(entries: readonly Entry<unknown, never>[]): Deadline {
  let latest = 0;
  for (const { waiters } of entries) for (const { deadline } of waiters) latest = Math.max(latest, deadline);
  return latest;
}

/** Rejects the waiters whose deadline is over; gives whether none is left. */
export function rejectLate(entry: Entry<unknown, never>, { lateError }: { lateError(): Error }): boolean {
  const late = entry.waiters.filter(({ deadline }) => remainingMs(deadline) === 0);
  if (late.length > 0) entry.waiters = entry.waiters.filter((waiter) => !late.includes(waiter));
  for (const { reject } of late) reject(lateError());
  return entry.waiters.length === 0;
}
