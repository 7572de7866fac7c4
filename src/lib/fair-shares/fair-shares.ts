/** Why work does not begin: too much of its key waits already, it waited too long, or nobody waits for it any more. */
export type Refusal = 'queue full' | 'late' | 'abandoned';

/** The limits of all keys together. */
export interface ShareLimits {
  /** Requests in flight. */
  readonly inFlight: number;
  /** Bytes that they hold. */
  readonly bytes: number;
  /** Queued requests. */
  readonly waiting: number;
  /** The longest wait in a queue, in ms. */
  readonly waitMs: number;
  /** The error of work that does not begin. */
  readonly refusal: (why: Refusal) => Error;
}

/** The share of one key. */
export interface Share {
  inFlight: number;
  bytes: number;
  /** The event loop's turn in which its last request began. */
  lastTurn: number;
  /** Ends a request in flight; one function for each key is cheaper than one for each request. */
  readonly release: () => void;
}

/** A request that may be queued. When it is closed, nobody waits for it any more. */
interface Waiter {
  readonly closed: boolean;
}

export type Shares = ReturnType<typeof createShares>;

/** How long requests may begin within one turn of the event loop, in ms. Requests in flight wait until the turn ends. */
const TURN_BUDGET_MS = 3;
/** Beyond this number of shares, the idle ones are deleted. */
const SHARES_MAX = 10_000;
/**
 * The fraction of a key's bytes for reservations, which can wait. The rest is for bodies and unread answers, which are refused when
 * there is no room.
 */
const RESERVABLE_FRACTION = 0.75;
/**
 * Shares a process between keys by dynamic thresholds (Choudhury and Hahne, https://doi.org/10.1109/90.664262): a key may
 * hold as much as is still free. So one flooding key gets half, two get a third each, and some is always free for another key.
 * Further requests are queued. `clock` is in ms.
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
  const hasTurnBudget = (): boolean => {
    const now = clock();
    if (turnBeganAt !== undefined) return now - turnBeganAt < TURN_BUDGET_MS;
    turnBeganAt = now;
    setImmediate(endTurn);
    return true;
  };
  const tryBegin = (share: Share): boolean => {
    if (share.inFlight >= limits.inFlight - inFlight) return false;
    if (!hasTurnBudget() && share.lastTurn === turn) return false; // the first request of each key begins in any case
    share.lastTurn = turn;
    share.inFlight++;
    inFlight++;
    return true;
  };
  const end = (share: Share, count: number): void => {
    share.inFlight -= count;
    inFlight -= count;
    requests.beginNext();
  };
  /** Shares in use stay, because requests still refer to them. */
  const deleteIdle = () => {
    for (const [keyId, share] of shares) {
      if (share.inFlight + share.bytes === 0 && !requests.has(share)) shares.delete(keyId);
    }
  };

  return {
    of(keyId: string): Share {
      const existing = shares.get(keyId);
      if (existing !== undefined) return existing;
      if (shares.size >= SHARES_MAX) deleteIdle();
      const share: Share = { inFlight: 0, bytes: 0, lastTurn: -1, release: () => end(share, 1) };
      shares.set(keyId, share);
      return share;
    },
    /**
     * Counts a request as in flight until `share.release`: at once, and gives undefined, or gives a promise that waits in a queue.
     * Rejects with a refusal.
     */
    begin(share: Share, request: Waiter): Promise<void> | undefined {
      if (!requests.has(share) && tryBegin(share)) return undefined;
      return requests.wait(share, request, () => tryBegin(share));
    },
    /**
     * Counts `more` further reads of a request, which run at the same time, until `removeInFlight`. Gives how many were counted: at most half
     * of what is free, so that some is left for other keys.
     */
    addInFlight(share: Share, more: number): number {
      const counted = Math.min(more, Math.floor((limits.inFlight - inFlight) / 2));
      share.inFlight += counted;
      inFlight += counted;
      return counted;
    },
    removeInFlight: end,
    ...createBytes(limits),
  };
}

function createBytes(limits: ShareLimits) {
  const queue = createQueue(limits);
  let held = 0;
  const hold = (share: Share, bytes: number): boolean => {
    if (share.bytes + bytes > limits.bytes - held) return false;
    share.bytes += bytes;
    held += bytes;
    return true;
  };
  const tryReserve = (share: Share, bytes: number): boolean =>
    share.bytes + bytes <= RESERVABLE_FRACTION * (limits.bytes - held - bytes) && hold(share, bytes);

  return {
    /** Takes bytes of the key's share until `free`; false when the share is used up. */
    hold,
    /** Takes bytes at once and gives undefined, or gives a promise that waits in a queue. Rejects with a refusal. */
    reserve(share: Share, bytes: number, request: Waiter): Promise<void> | undefined {
      if (!queue.has(share) && tryReserve(share, bytes)) return undefined;
      return queue.wait(share, request, () => tryReserve(share, bytes));
    },
    free(share: Share, bytes: number): void {
      share.bytes -= bytes;
      held -= bytes;
      queue.beginNext();
    },
  };
}

/** One queue for each key. Requests begin round-robin over the keys. */
function createQueue(limits: ShareLimits) {
  /** The waiters of each key, oldest first; the keys are in round-robin order. A waiter gives false when it cannot begin. */
  const queues = new Map<Share, Set<() => boolean>>();
  let waiting = 0;
  let isBeginning = false;

  /** Begins the next request that the limits allow, and the one after it when that has done its first work, which takes time. */
  const beginNext = (): void => {
    if (isBeginning || waiting === 0) return;
    for (const [share, own] of queues) {
      const [tryBegin] = own;
      if (tryBegin?.() !== true) continue; // it stays in its place
      queues.delete(share);
      if (own.size > 0) queues.set(share, own); // at the end
      isBeginning = true;
      queueMicrotask(goOn);
      return;
    }
  };
  const goOn = () => {
    isBeginning = false;
    beginNext();
  };

  return {
    has: (share: Share) => queues.has(share),
    beginNext,
    /** Waits until `begin` gives true. Refused when the queue is full, the wait too long, or nobody waits for the request any more. */
    wait(share: Share, request: Waiter, begin: () => boolean): Promise<void> {
      const own = queues.get(share) ?? new Set();
      if (own.size >= limits.waiting - waiting) throw limits.refusal('queue full');
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const dequeue = () => {
        clearTimeout(timer);
        own.delete(tryBegin);
        waiting--;
      };
      const tryBegin = (): boolean => {
        if (!request.closed && !begin()) return false;
        dequeue();
        if (request.closed) reject(limits.refusal('abandoned'));
        else resolve();
        return true;
      };
      const refuse = () => {
        dequeue();
        if (own.size === 0) queues.delete(share);
        reject(limits.refusal('late'));
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
