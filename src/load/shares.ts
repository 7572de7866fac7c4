import { getHeapStatistics } from 'node:v8';
import { SHARE_WAIT_MS } from '../deadlines.ts';
import { ApiError } from '../errors.ts';

/** What all keys together may hold of one process. */
export interface ShareLimits {
  /** Requests in flight. */
  readonly inFlight: number;
  /** Bytes of bodies, of answers in the making and of answers that their readers have not taken. */
  readonly bytes: number;
  /** Requests in a queue. */
  readonly waiting: number;
  /** How long a request waits, in ms. */
  readonly waitMs: number;
}

/** What one key holds of the process. */
export interface Share {
  inFlight: number;
  bytes: number;
  /** In which turn of the event loop one of its requests began. */
  lastTurn: number;
  /** Ends a request in flight; made once for each key, so that a request costs no function of its own. */
  readonly release: () => void;
}

/** The shares of all keys. */
export type Shares = ReturnType<typeof createShares>;

/** How long requests may begin within one turn of the event loop, in ms: everybody else's next step waits for its end. */
const TURN_MS = 3;
/** Keys that are remembered without holding anything. */
const IDLE_MAX = 10_000;
/** More bytes than this are of no use to requests. */
const BYTES_MAX = 384 * 2 ** 20;

/** The limits of a process that shares its machine with so many others of its kind, itself counted. */
export function limitsOf(workers: number): ShareLimits {
  return { inFlight: 256, bytes: memoryForRequests(workers), waiting: 2000, waitMs: SHARE_WAIT_MS };
}

/**
 * How many bytes requests may hold. A sixth of the heap: the rest is for the program, and for what the collector has not taken
 * away yet. Of a container an eighth, for bodies and answers on their way stand beside the heap.
 */
export function memoryForRequests(
  workers: number,
  heapBytes = getHeapStatistics().heap_size_limit,
  containerBytes = process.constrainedMemory(),
): number {
  const ofContainer = containerBytes > 0 ? containerBytes / workers / 8 : BYTES_MAX; // 0: there is none
  return Math.min(BYTES_MAX, heapBytes / 6, ofContainer);
}

/** Refused because the key asks for more than its share. */
export function tooManyRequests(message: string): ApiError {
  return new ApiError('too_many_requests', message);
}

/**
 * Shares the process between API keys. A key may hold as much as all together leave free: one that floods gets half, two get
 * a third each, and there is always some left for a further key (dynamic thresholds, Choudhury and Hahne,
 * https://doi.org/10.1109/90.664262). Requests beyond that wait in a queue. `clock` is in ms.
 */
export function createShares(limits: ShareLimits, clock: () => number = performance.now.bind(performance)) {
  const shares = new Map<string, Share>();
  const requests = createQueue(limits);
  let inFlight = 0;
  let turn = 0;
  let turnBeganAt: number | undefined;

  const endTurn = () => {
    turnBeganAt = undefined;
    turn++;
    requests.beginNext();
  };
  const hasTime = (now: number): boolean => {
    if (turnBeganAt !== undefined) return now - turnBeganAt < TURN_MS;
    turnBeganAt = now;
    setImmediate(endTurn);
    return true;
  };
  const tryBegin = (share: Share, now: number): boolean => {
    if (share.inFlight >= limits.inFlight - inFlight) return false;
    if (!hasTime(now) && share.lastTurn === turn) return false; // the first one of each key begins whatever the others took
    share.lastTurn = turn;
    share.inFlight++;
    inFlight++;
    return true;
  };
  /** Shares that are in use stay: their users give back to them. */
  const forgetIdle = () => {
    for (const [keyId, share] of shares) {
      if (share.inFlight + share.bytes === 0 && !requests.has(share)) shares.delete(keyId);
    }
  };

  return {
    of(keyId: string): Share {
      const known = shares.get(keyId);
      if (known !== undefined) return known;
      if (shares.size >= IDLE_MAX) forgetIdle();
      const release = () => {
        share.inFlight--;
        inFlight--;
        requests.beginNext();
      };
      const share: Share = { inFlight: 0, bytes: 0, lastTurn: -1, release };
      shares.set(keyId, share);
      return share;
    },
    /**
     * Runs `work` as a request in flight, at once or when it is the key's turn; it is one until `share.release`. `now` is the
     * moment. Without work where the request has been abandoned in the queue. ApiError `too_many_requests`.
     */
    run(share: Share, now: number, isAbandoned: () => boolean, work: () => Promise<void>): Promise<void> {
      if (!requests.has(share) && tryBegin(share, now)) return work();
      return requests.wait(share, () => {
        if (isAbandoned()) return Promise.resolve();
        return tryBegin(share, clock()) ? work() : undefined;
      });
    },
    ...createBytes(limits),
  };
}

/** The bytes that all keys hold, and the requests that wait for some. */
function createBytes(limits: ShareLimits) {
  const queue = createQueue(limits);
  let held = 0;
  const hold = (share: Share, bytes: number): boolean => {
    if (share.bytes + bytes > limits.bytes - held) return false;
    share.bytes += bytes;
    held += bytes;
    return true;
  };

  return {
    /** Holds bytes until `free`; false when the key may not hold so many. */
    hold,
    /** The same, in a queue if need be; undefined when they are held at once. ApiError `too_many_requests`. */
    reserve(share: Share, bytes: number, isAbandoned: () => boolean): Promise<void> | undefined {
      if (!queue.has(share) && hold(share, bytes)) return undefined;
      return queue.wait(share, () => {
        if (isAbandoned()) return Promise.reject(tooManyRequests('The request has been abandoned.'));
        return hold(share, bytes) ? Promise.resolve() : undefined;
      });
    },
    free(share: Share, bytes: number): void {
      share.bytes -= bytes;
      held -= bytes;
      queue.beginNext();
    },
  };
}

/** A queue for each key. The keys take turns: each begins one request, then it is the next one's turn. */
function createQueue(limits: ShareLimits) {
  /** First the key whose turn is next, and of its waiters the oldest. A waiter begins, or gives false. */
  const queues = new Map<Share, Set<() => boolean>>();
  let waiting = 0;
  let isBeginning = false;

  /** Begins whatever there is room for: to be called when there is more of it. */
  const beginNext = (): void => {
    if (isBeginning || waiting === 0) return; // what begins may release something at once
    isBeginning = true;
    for (const [share, own] of queues) {
      const [tryBegin] = own;
      if (tryBegin?.() !== true) continue; // its turn stays the next one
      queues.delete(share);
      if (own.size > 0) queues.set(share, own); // at the end, where this loop comes by again
    }
    isBeginning = false;
  };

  return {
    has: (share: Share) => queues.has(share),
    beginNext,
    /** Waits until `begin` gives something. ApiError `too_many_requests` when the queue is full or it takes too long. */
    wait(share: Share, begin: () => Promise<void> | undefined): Promise<void> {
      const own = queues.get(share) ?? new Set();
      if (own.size >= limits.waiting - waiting) {
        throw tooManyRequests('Too many requests of this API key at once; try again shortly.');
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const leave = () => {
        clearTimeout(timer);
        own.delete(tryBegin);
        waiting--;
      };
      const tryBegin = (): boolean => {
        const begun = begin();
        if (begun === undefined) return false;
        leave();
        resolve(begun);
        return true;
      };
      const refuse = () => {
        leave();
        if (own.size === 0) queues.delete(share);
        reject(tooManyRequests('Too many requests of this API key are waiting; try again shortly.'));
        beginNext();
      };
      const timer = setTimeout(refuse, limits.waitMs).unref();
      own.add(tryBegin);
      waiting++;
      queues.set(share, own);
      return promise;
    },
  };
}
