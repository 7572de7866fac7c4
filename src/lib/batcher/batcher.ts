import { type Deadline, watchDeadlines } from '../deadline/deadline.ts';
import type { Entry, Statement } from './entries.ts';
import { answerAll, exceeds, inputsOf, latestDeadline, nextBatch, rejectLate } from './entries.ts';

/** Up to this round trip, in ms, a batch may wait to become larger: the wait costs less than the saved statements. */
export const LOW_LATENCY_MS = 1.5;
/** The default of `slowMs`, in ms; also how often a queue is checked for slow statements. */
const SLOW_MS = 10;
/** For so long, in ms, callers who were many are expected to come back. */
const MANY_MS = 10;

/** The server that batches are sent to. */
export interface BatchTarget {
  /** The number of connections. */
  readonly connectionsMax: number;
  /** The shortest recent round trip, in ms; 0 while it is not known. */
  roundTripMs(): number;
  /** The error of an input that has no answer at its deadline. */
  lateError(): Error;
}

/** When a batch is sent, and which inputs it takes. */
interface BatchRules<Input> {
  /** Concurrency limit: statements in flight, while the round trip is at most LOW_LATENCY_MS. */
  readonly inFlight: number;
  /** Concurrency limit at any round trip; by default the number of connections. */
  readonly inFlightMax?: number;
  /** The largest number of inputs in a batch. */
  readonly maxSize: number;
  /**
   * Inputs whose deadlines are further apart, in ms, share no batch, because it may be at work until the latest of them. By default
   * they do.
   */
  readonly spreadMs?: number;
  /** While others are in flight, a batch waits until so many inputs are queued. By default it is sent at once. */
  readonly targetSize?: number;
  /** Up to so many callers, each input is sent alone and at once, whatever is in flight; 1 by default. */
  readonly aloneMax?: number;
  /** After this time, in ms, a statement is slow (a lock, a dead connection) and no longer counts against `inFlight`. */
  readonly slowMs?: number;
  /** Queued inputs of the same key share one answer. By default no two inputs do. */
  keyOf?(input: Input): string;
  /** Inputs of different groups have different SQL texts, so they never share a batch. */
  groupOf?(input: Input): string;
  /** The bytes that an input adds to the statement or to the answer; 0 by default. */
  bytesOf?(input: Input): number;
  /** Whether one bad input made the statement fail without any effect. Then each input is sent alone. */
  isInputError?(error: unknown): boolean;
}

/** Queues an input; gives its answer. Rejects with `lateError()` at the deadline at the latest. */
export type Batcher<Input, Answer> = (input: Input, deadline: Deadline) => Promise<Answer>;

/**
 * Creates a batcher. `runBatch` answers several inputs by one statement, in their order; its deadline is their latest one. Unless
 * callers are few, inputs are queued until the end of the event loop's turn, or longer, while the concurrency limit is reached. A
 * statement never begins before its inputs have arrived.
 */
export function createBatcher<Input, Answer>(
  target: BatchTarget,
  rules: BatchRules<Input>,
  runBatch: (inputs: readonly Input[], deadline: Deadline) => Promise<readonly Answer[]>,
): Batcher<Input, Answer> {
  const { inFlightMax = target.connectionsMax, slowMs = SLOW_MS } = rules;
  const aloneMax = Math.min(rules.aloneMax ?? 1, inFlightMax);
  let queue = new Map<unknown, Entry<Input, Answer>>();
  const inFlight: Statement<Input, Answer>[] = [];
  /** When there were last more than `aloneMax` callers. Those who are answered together may come back together. */
  let manyAt = Number.NEGATIVE_INFINITY;
  const areFew = (): boolean => {
    if (exceeds(aloneMax, inFlight, queue)) manyAt = performance.now();
    // Without a round trip, answers would be there before the turn's other inputs, and no equal ones would share them.
    return performance.now() > manyAt + MANY_MS && target.roundTripMs() > 0;
  };

  const enqueue = (entry: Entry<Input, Answer>): void => {
    queue.set(entry.key, entry);
    (areFew() ? sendSoon : sendAtTurnEnd)();
  };
  const sendReady = (): void => {
    if (queue.size === 0) return;
    for (let size = batchSize(); size > 0; size = batchSize()) void send(nextBatch(queue, size, rules.spreadMs)); // never rejects
    // A new Map: V8 links the tables of one that grows, and an old table would keep later entries alive until a full collection.
    queue = new Map(queue);
    if (queue.size > 0) sendWhenSlow();
  };
  const sendSoon = scheduleOnce((work) => SETTLED.then(work), sendReady); // the same task may have further inputs
  const sendAtTurnEnd = scheduleOnce(setImmediate, sendReady);
  const sendWhenSlow = scheduleOnce((work) => setTimeout(work, SLOW_MS), sendReady);
  /** The size limit of the next batch, in inputs; 0 while it must wait. */
  const batchSize = (): number => {
    if (queue.size === 0 || inFlight.length >= inFlightMax) return 0;
    if (target.roundTripMs() > LOW_LATENCY_MS) return rules.maxSize;
    if (areFew()) return 1;
    const fastSince = performance.now() - slowMs;
    const fast = inFlight.filter(({ sentAt }) => sentAt > fastSince).length;
    return sizeNow(fast, Math.min(rules.inFlight, inFlightMax), queue.size, rules);
  };

  const send = async (entries: readonly Entry<Input, Answer>[]): Promise<void> => {
    for (const { key } of entries) queue.delete(key);
    const statement = { entries, sentAt: performance.now() };
    inFlight.push(statement);
    try {
      answerAll(entries, await runBatch(inputsOf(entries), latestDeadline(entries)));
    } catch (error) {
      const isRetried = entries.length > 1 && rules.isInputError?.(error);
      for (const entry of entries) {
        if (!isRetried) for (const { reject } of entry.waiters) reject(error);
        else if (entry.waiters.length > 0) enqueue({ ...entry, key: entry, group: entry }); // alone
      }
    }
    inFlight.splice(inFlight.indexOf(statement), 1);
    sendReady();
  };

  /** Rejects the waiters at their deadline. The statement goes on for the others. */
  const watch = watchDeadlines(() => {
    for (const { entries } of inFlight) for (const entry of entries) rejectLate(entry, target);
    for (const [key, entry] of queue) if (rejectLate(entry, target)) queue.delete(key);
    return inFlight.length + queue.size > 0;
  });

  return (input, deadline) => {
    watch();
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const key = rules.keyOf?.(input) ?? promise; // unique
    const waiter = { resolve, reject, deadline };
    const equal = queue.get(key);
    if (equal) equal.waiters.push(waiter);
    else enqueue({ input, bytes: rules.bytesOf?.(input) ?? 0, key, group: rules.groupOf?.(input), waiters: [waiter] });
    return promise;
  };
}

/** In place of queueMicrotask, for which Node makes an AsyncResource each time. */
const SETTLED = Promise.resolve();

/** Gives a function that schedules `work`. Further calls do nothing until `work` has begun. */
function scheduleOnce(schedule: (work: () => void) => unknown, work: () => void): () => void {
  let isScheduled = false;
  const begin = () => {
    isScheduled = false;
    work();
  };
  return () => {
    if (!isScheduled) schedule(begin);
    isScheduled = true;
  };
}

/** How many queued inputs the next batch takes under the concurrency limit; 0 while it must wait. */
function sizeNow(inFlight: number, limit: number, queued: number, { maxSize, targetSize }: BatchRules<never>): number {
  const room = limit - inFlight;
  if (room <= 0) return 0;
  if (targetSize === undefined || queued >= maxSize * room) return maxSize;
  // As in Nagle's algorithm, a small batch waits while others are in flight: https://www.rfc-editor.org/rfc/rfc896
  const least = Math.min(targetSize, maxSize);
  return inFlight === 0 || queued >= least ? least : 0;
}
