/** Why work does not begin: too much of its key waits already, it waited too long, or nobody waits for it any more. */
export type Reason = 'queue full' | 'late' | 'abandoned';

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
  readonly refusal: (why: Reason) => Error;
}

/** The share of one key. */
export interface Share {
  inFlight: number;
  /** All its bytes, those that are reserved included. */
  bytes: number;
  reserved: number;
  /** The event loop's turn in which its last request began. */
  lastTurn: number;
  /** Ends a request in flight; one function for each key is cheaper than one for each request. */
  readonly release: () => void;
}

/** A request that may be queued. When it is closed, nobody waits for it any more. */
interface Request {
  readonly closed: boolean;
}

/** The shares of a process, as `createShares` makes them. */
export type Shares = ReturnType<typeof createShares>;

/** How long requests may begin within one turn of the event loop, in ms. Requests in flight wait until the turn ends. */
const TURN_BUDGET_MS = 3;
/** A timer that is this late, in ms, tells of a pause of the process. */
const PAUSE_MS = 100;
/** Beyond this number of shares, the idle ones are deleted. */
const SHARES_MAX = 10_000;
/**
 * The fraction of the free bytes for reservations, which can wait. The rest is for bodies and unread answers, which are refused
 * when there is no room.
 */
const RESERVABLE_FRACTION = 0.75;

/**
 * Shares a process between keys by dynamic thresholds (Choudhury and Hahne, https://doi.org/10.1109/90.664262): a key may
 * hold as much as is still free. So one flooding key gets half, two get a third each, and some is always free for another key.
 * Further requests are queued. `clock` is in ms.
 */
export function createShares(limits: ShareLimits, clock: () => number = performance.now.bind(performance)) {
  const shares = new Map<string, Share>();
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
  const requests = createQueue(limits, tryBegin, clock);
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
      const share: Share = { inFlight: 0, bytes: 0, reserved: 0, lastTurn: -1, release: () => end(share, 1) };
      shares.set(keyId, share);
      return share;
    },
    /**
     * Counts a request as in flight until `share.release`: at once, and gives undefined, or gives a promise that waits in a queue.
     * Rejects with a refusal.
     */
    begin: (share: Share, request: Request) => requests.begin(share, 1, request),
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
    ...createBytes(limits, clock),
  };
}

function createBytes(limits: ShareLimits, clock: () => number) {
  let unused = limits.bytes;
  const take = (share: Share, bytes: number, most: number): boolean => {
    if (bytes > most) return false;
    share.bytes += bytes;
    unused -= bytes;
    return true;
  };
  /**
   * Other bytes of the key do not count: they may be bodies of the very requests that wait here, so a wait for them has no end. A
   * key's only reservation may be larger, because none of its own will ever make room for it.
   */
  const tryReserve = (share: Share, bytes: number): boolean => {
    const { reserved } = share;
    const most = RESERVABLE_FRACTION * (reserved === 0 ? unused : unused - bytes) - reserved;
    if (!take(share, bytes, most)) return false;
    share.reserved += bytes;
    return true;
  };
  const queue = createQueue(limits, tryReserve, clock);
  const free = (share: Share, bytes: number): void => {
    share.bytes -= bytes;
    unused += bytes;
    queue.beginNext();
  };

  return {
    /** Takes bytes of the key's share until `free`; false when the share is used up. */
    hold: (share: Share, bytes: number): boolean => take(share, bytes, unused - share.bytes),
    free,
    /**
     * Takes bytes until `freeReserved`: at once, and gives undefined, or gives a promise that waits in a queue, `waitMs` at most: what an
     * earlier wait has left of the limit's, below 0 when a pause of the process has used up more. Rejects with a refusal.
     */
    reserve: queue.begin,
    freeReserved(share: Share, bytes: number): void {
      share.reserved -= bytes;
      free(share, bytes);
    },
  };
}

/** One queue for each key. Requests begin round-robin over the keys, each as soon as `tryTake` gives true for its amount. */
function createQueue(limits: ShareLimits, tryTake: (share: Share, amount: number) => boolean, clock: () => number) {
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
    /**
     * Takes the amount at once and gives undefined, or gives a promise that waits for it. Refused when the queue is full, the wait too
     * long, or nobody waits for the request any more.
     */
    begin(share: Share, amount: number, request: Request, waitMs = limits.waitMs): Promise<void> | undefined {
      if (!queues.has(share) && tryTake(share, amount)) return undefined;
      const own = queues.get(share) ?? new Set();
      if (own.size >= limits.waiting - waiting) return Promise.reject(limits.refusal('queue full'));
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const settle = (why?: Reason) => {
        clearTimeout(timer);
        own.delete(tryBegin);
        waiting--;
        if (why === undefined) resolve();
        else reject(limits.refusal(why));
      };
      const tryBegin = (): boolean => {
        if (!request.closed && !tryTake(share, amount)) return false;
        settle(request.closed ? 'abandoned' : undefined);
        return true;
      };
      const refuse = () => {
        settle('late');
        if (own.size === 0) queues.delete(share);
        beginNext();
      };
      const dueAt = clock() + waitMs;
      // A pause of the process is no wait: what became free meanwhile is given out first.
      const refuseUnlessPaused = () => {
        const lateMs = clock() - dueAt;
        if (lateMs < PAUSE_MS) refuse();
        else timer = setTimeout(refuse, Math.min(lateMs, limits.waitMs / 4)).unref();
      };
      let timer = setTimeout(refuseUnlessPaused, Math.max(0, waitMs)).unref();
      own.add(tryBegin);
      waiting++;
      queues.set(share, own);
      return promise;
    },
  };
}
