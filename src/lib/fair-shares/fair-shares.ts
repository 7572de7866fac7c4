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
  const hasTurnBudget = (now: number): boolean => {
    if (turnBeganAt !== undefined) return now - turnBeganAt < TURN_BUDGET_MS;
    turnBeganAt = now;
    setImmediate(endTurn);
    return true;
  };
  const tryBegin = (share: Share, now: number): boolean => {
    if (share.inFlight >= limits.inFlight - inFlight) return false;
    if (!hasTurnBudget(now) && share.lastTurn === turn) return false; // the first request of each key begins in any case
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
     * Runs `work` at once, or queues it. It counts as in flight until `share.release`. `now` is the current time of `clock`. Skips
     * `work` and gives undefined when the request was abandoned in the queue. Rejects with a refusal.
     */
    run<Result>(
      share: Share,
      now: number,
      isAbandoned: () => boolean,
      work: () => Promise<Result>,
    ): Promise<Result | undefined> {
      if (!requests.has(share) && tryBegin(share, now)) return work();
      return requests.wait<Result | undefined>(share, () => {
        if (isAbandoned()) return Promise.resolve(undefined);
        return tryBegin(share, clock()) ? work() : undefined;
      });
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
    reserve(share: Share, bytes: number, isAbandoned: () => boolean): Promise<void> | undefined {
      if (!queue.has(share) && tryReserve(share, bytes)) return undefined;
      return queue.wait<void>(share, () => {
        if (isAbandoned()) return Promise.reject(limits.refusal('abandoned'));
        return tryReserve(share, bytes) ? Promise.resolve() : undefined;
      });
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

  /** Begins as many requests as the limits allow; to be called after each release. */
  const beginNext = (): void => {
    if (isBeginning || waiting === 0) return; // no recursion: a request may release its share while it begins
    isBeginning = true;
    for (const [share, own] of queues) {
      const [tryBegin] = own;
      if (tryBegin?.() !== true) continue; // it stays in its place
      queues.delete(share);
      if (own.size > 0) queues.set(share, own); // at the end, where this loop visits it again
    }
    isBeginning = false;
  };

  return {
    has: (share: Share) => queues.has(share),
    beginNext,
    /** Waits until `begin` gives a promise. Refused when the queue is full or the wait too long. */
    wait<Result>(share: Share, begin: () => Promise<Result> | undefined): Promise<Result> {
      const own = queues.get(share) ?? new Set();
      if (own.size >= limits.waiting - waiting) throw limits.refusal('queue full');
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      const dequeue = () => {
        clearTimeout(timer);
        own.delete(tryBegin);
        waiting--;
      };
      const tryBegin = (): boolean => {
        const begun = begin();
        if (begun === undefined) return false;
        dequeue();
        resolve(begun);
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
