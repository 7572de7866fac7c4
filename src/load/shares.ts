import { SHARE_WAIT_MS } from '../deadlines.ts';
import { memoryForRequests } from './memory.ts';
import { createQueue, type QueueLimits, tooManyRequests } from './queue.ts';

/** What all keys together may hold of one process. */
export interface ShareLimits extends QueueLimits {
  /** Requests in flight. */
  readonly inFlight: number;
  /** Bytes of bodies, of answers in the making and of answers that their readers have not taken. */
  readonly bytes: number;
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

/** The shares of all keys. Moments are of `performance.now()`. */
export interface Shares {
  of(keyId: string): Share;
  /**
   * Runs `work` as a request in flight, now or when it is the key's turn; it is one until `share.release`. Not at all when it
   * has been abandoned by then. ApiError `too_many_requests`.
   */
  run(share: Share, askedAt: number, isAbandoned: () => boolean, work: () => Promise<void>): Promise<void>;
  /** Holds bytes until `free`; false when the key may not hold so many. */
  hold(share: Share, bytes: number): boolean;
  /** The same, waiting for its turn; undefined when they are held at once. ApiError `too_many_requests`. */
  reserve(share: Share, bytes: number, isAbandoned: () => boolean): Promise<void> | undefined;
  free(share: Share, bytes: number): void;
}

/** How long requests may begin within one turn of the event loop, in ms: everybody else's next step waits for its end. */
const TURN_MS = 3;
/** Keys that are remembered without holding anything. */
const IDLE_MAX = 10_000;

/** The limits of a process that shares its machine with so many others of its kind, itself counted. */
export function limitsOf(workers: number): ShareLimits {
  return { inFlight: 256, bytes: memoryForRequests(workers), waiting: 2000, waitMs: SHARE_WAIT_MS };
}

/**
 * Shares the process between API keys. A key may hold as much as all together leave free: one that floods gets half, two get
 * a third each, and there is always some left for a further key (dynamic thresholds, Choudhury and Hahne,
 * https://doi.org/10.1109/90.664262). Requests beyond that wait in their key's own queue; the keys take turns.
 */
export function createShares(limits: ShareLimits, clock: () => number = performance.now.bind(performance)): Shares {
  const shares = new Map<string, Share>();
  const queue = createQueue<Share>(limits, clock);
  let inFlight = 0;
  let turn = 0;
  let turnBeganAt: number | undefined;

  const endTurn = () => {
    turnBeganAt = undefined;
    turn++;
    queue.beginNext();
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

  return {
    of(keyId) {
      const known = shares.get(keyId);
      if (known !== undefined) return known;
      if (shares.size >= IDLE_MAX) forgetIdle();
      const share: Share = {
        inFlight: 0,
        bytes: 0,
        lastTurn: -1,
        release() {
          share.inFlight--;
          inFlight--;
          queue.beginNext();
        },
      };
      shares.set(keyId, share);
      return share;
    },
    run(share, since, isAbandoned, work) {
      if (!queue.has(share) && tryBegin(share, since)) return work();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      queue.add(share, {
        since,
        isAbandoned,
        tryBegin() {
          if (!tryBegin(share, clock())) return false;
          resolve(work()); // at once, so that the next one knows how much of the turn it took
          return true;
        },
        end: (refusal) => (refusal ? reject(refusal) : resolve()),
      });
      return promise;
    },
    ...createBytes(limits, clock),
  };

  /** Shares that are in use stay: those who use them give back to them. */
  function forgetIdle(): void {
    for (const [keyId, share] of shares) {
      if (share.inFlight + share.bytes === 0 && !queue.has(share)) shares.delete(keyId);
    }
  }
}

/** The bytes of all keys, and the queue of those that wait for some. */
function createBytes(limits: ShareLimits, clock: () => number): Pick<Shares, 'hold' | 'reserve' | 'free'> {
  const queue = createQueue<Share>(limits, clock);
  let held = 0;
  const hold = (share: Share, bytes: number): boolean => {
    if (share.bytes + bytes > limits.bytes - held) return false;
    share.bytes += bytes;
    held += bytes;
    return true;
  };

  return {
    hold,
    reserve(share, bytes, isAbandoned) {
      if (!queue.has(share) && hold(share, bytes)) return undefined;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      queue.add(share, {
        since: clock(),
        isAbandoned,
        tryBegin() {
          if (!hold(share, bytes)) return false;
          resolve();
          return true;
        },
        end: (refusal = tooManyRequests('The request has been abandoned.')) => reject(refusal),
      });
      return promise;
    },
    free(share, bytes) {
      share.bytes -= bytes;
      held -= bytes;
      queue.beginNext();
    },
  };
}
