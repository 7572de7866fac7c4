import { ApiError } from '../errors.ts';

/** A request that waits for room. */
export interface Waiter {
  /** Since when, in ms of the queue's clock. */
  readonly since: number;
  readonly isAbandoned: () => boolean;
  /** Begins, and gives true, if there is room. */
  readonly tryBegin: () => boolean;
  /** It has been abandoned, or the error says why it is refused. */
  readonly end: (refusal?: ApiError) => void;
}

/** What a queue may hold. */
export interface QueueLimits {
  readonly waiting: number;
  /** How long anybody waits, in ms. */
  readonly waitMs: number;
}

/** A queue of requests for each key. */
export interface Queue<Key> {
  has(key: Key): boolean;
  /** ApiError `too_many_requests` when the queue is full; later, by `end`, when it takes too long. */
  add(key: Key, waiter: Waiter): void;
  /** Begins whatever there is room for: to be called when there is more of it. */
  beginNext(): void;
}

const SWEEP_MS = 250;

/** Refused because the key asks for more than its share. */
export function tooManyRequests(message: string): ApiError {
  return new ApiError('too_many_requests', message);
}

/** The keys take turns: each begins one request, then it is the next one's turn. */
export function createQueue<Key>(limits: QueueLimits, clock: () => number): Queue<Key> {
  /** First the key whose turn is next, and of its requests the oldest. */
  const waiters = new Map<Key, Waiter[]>();
  let count = 0;
  let isBeginning = false;
  let sweeper: NodeJS.Timeout | undefined;

  const endWhile = (own: Waiter[], isOver: (waiter: Waiter) => boolean, refusal?: ApiError): void => {
    for (let [oldest] = own; oldest !== undefined && isOver(oldest); [oldest] = own) {
      own.shift();
      count--;
      oldest.end(refusal);
    }
  };

  const beginAll = (): void => {
    for (const [key, own] of waiters) {
      endWhile(own, ({ isAbandoned }) => isAbandoned());
      const [oldest] = own;
      if (oldest !== undefined && !oldest.tryBegin()) continue; // its turn stays the next one
      waiters.delete(key);
      if (oldest === undefined) continue;
      own.shift();
      count--;
      if (own.length > 0) waiters.set(key, own); // at the end, where this loop comes by again
    }
  };

  const beginNext = (): void => {
    if (isBeginning || count === 0) return; // what begins may release something at once
    isBeginning = true;
    beginAll();
    isBeginning = false;
  };

  const refuseLate = (): void => {
    const oldest = clock() - limits.waitMs;
    const refusal = tooManyRequests('Too many requests of this API key are waiting; try again shortly.');
    for (const own of waiters.values()) endWhile(own, ({ since }) => since <= oldest, refusal);
    beginNext();
    if (count === 0) sweeper = void clearInterval(sweeper);
  };

  return {
    has: (key) => waiters.has(key),
    beginNext,
    add(key, waiter) {
      const own = waiters.get(key) ?? [];
      // As much as the others leave free, as everywhere in shares.ts.
      if (own.length >= limits.waiting - count) {
        throw tooManyRequests('Too many requests of this API key at once; try again shortly.');
      }
      own.push(waiter);
      count++;
      waiters.set(key, own);
      sweeper ??= setInterval(refuseLate, SWEEP_MS).unref();
    },
  };
}
