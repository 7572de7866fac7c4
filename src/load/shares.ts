import { SHARE_WAIT_MS } from '../deadlines.ts';
import { createLines, type LineLimits, type Owner, tooManyRequests } from './lines.ts';
import { createPlaces } from './places.ts';

/** What all keys together may hold of one process. */
export interface ShareLimits extends LineLimits {
  /** Requests at work: while one key alone asks, and the fewest while several do. */
  readonly placesAlone: number;
  readonly placesFewest: number;
  /** Bytes of request bodies, those still on their way included. */
  readonly bodyBytes: number;
  /** Bytes of answers that their readers have not taken: where nothing further begins, and where answers are thrown away. */
  readonly unsentSoftBytes: number;
  readonly unsentHardBytes: number;
}

const MB = 2 ** 20;

const LIMITS: ShareLimits = {
  placesAlone: 256,
  placesFewest: 4,
  waiting: 2000,
  waitMs: SHARE_WAIT_MS,
  bodyBytes: 256 * MB,
  unsentSoftBytes: 32 * MB,
  unsentHardBytes: 128 * MB,
};

/** What one key holds of the process. */
export interface Share extends Owner {
  atWork: number;
  bodyBytes: number;
  unsentBytes: number;
  /** Places that become free when the event loop's turn is over. */
  leaving: number;
  /** Gives a place back; made once for each key, so that a request costs no function of its own. */
  readonly leave: () => void;
}

/** The shares of all keys. Moments are of `performance.now()`. */
export interface Shares {
  of(keyId: string): Share;
  /**
   * Takes a place at work, now or when it is the key's turn: `share.leave` gives it back. False when who asked had left by
   * then; ApiError `too_many_requests`.
   */
  enter(share: Share, now: number, hasLeft: () => boolean): Promise<boolean> | true;
  /** Tells how long work took, in ms: the number of places follows it. */
  noteWork(ms: number): void;
  /** Reserves what a body may take, until `releaseBody`; ApiError `too_many_requests`. */
  holdBody(share: Share, bytes: number): void;
  releaseBody(share: Share, bytes: number): void;
  /** Counts an answer until its reader has taken it, `releaseAnswer`; false when that many bytes may not be kept. */
  holdAnswer(share: Share, bytes: number): boolean;
  releaseAnswer(share: Share, bytes: number): void;
}

/** How long after a change of keys the places count as shared, in ms. */
const COMPANY_MS = 10_000;
/** Keys that are remembered without holding anything. */
const IDLE_MAX = 10_000;

/**
 * Shares the machine between API keys. A key may hold as much as all together leave free: one that floods gets half, two get
 * a third each, and there is always some left for a further key (dynamic thresholds, Choudhury and Hahne,
 * https://doi.org/10.1109/90.664262). Requests beyond that wait in their key's own line; the lines take turns.
 */
export function createShares(
  limits: ShareLimits = LIMITS,
  clock: () => number = performance.now.bind(performance),
): Shares {
  const shares = new Map<string, Share>();
  const held = { atWork: 0, bodyBytes: 0, unsentBytes: 0 };
  const places = createPlaces(limits.placesFewest, limits.placesAlone);
  let last: Share | undefined;
  let companyUntil = Number.NEGATIVE_INFINITY;
  let inCompany = false;

  const tryStart = (share: Share): boolean => {
    const { atWork, unsentBytes } = share;
    const available = inCompany ? places.count : limits.placesAlone;
    // A key with nothing at work need not wait for the places to become fewer.
    const hasPlace = atWork < (atWork === 0 ? limits.placesAlone : available) - held.atWork;
    if (!hasPlace || (unsentBytes > 0 && unsentBytes >= limits.unsentSoftBytes - held.unsentBytes)) return false;
    share.atWork++;
    held.atWork++;
    return true;
  };
  const lines = createLines(limits, tryStart, clock);

  const leaveWithTurn = createTurnEnd(held, clock, (turnMs) => {
    places.noteTurn(turnMs);
    lines.startNext();
  });
  const leave = (share: Share) => {
    if (inCompany) return leaveWithTurn(share);
    share.atWork--;
    held.atWork--;
    lines.startNext();
  };

  return {
    of(keyId) {
      const share = shares.get(keyId) ?? createShare(leave);
      if (!shares.has(keyId)) {
        if (shares.size >= IDLE_MAX) forgetIdle(shares);
        shares.set(keyId, share);
      }
      return share;
    },
    enter(share, now, hasLeft) {
      if (share !== last) {
        if (last !== undefined) companyUntil = now + COMPANY_MS;
        last = share;
      }
      inCompany = now < companyUntil;
      return share.line.length === 0 && tryStart(share) ? true : lines.wait(share, now, hasLeft);
    },
    noteWork: (ms) => places.noteWork(ms, held.atWork),
    holdBody(share, bytes) {
      if (share.bodyBytes + bytes > limits.bodyBytes - held.bodyBytes) {
        throw tooManyRequests('Too many request bodies of this API key at once; try again shortly.');
      }
      share.bodyBytes += bytes;
      held.bodyBytes += bytes;
    },
    releaseBody(share, bytes) {
      share.bodyBytes -= bytes;
      held.bodyBytes -= bytes;
    },
    holdAnswer(share, bytes) {
      if (share.unsentBytes + bytes > limits.unsentHardBytes - held.unsentBytes) return false;
      share.unsentBytes += bytes;
      held.unsentBytes += bytes;
      return true;
    },
    releaseAnswer(share, bytes) {
      share.unsentBytes -= bytes;
      held.unsentBytes -= bytes;
      lines.startNext();
    },
  };
}

/** Shares that are in use stay: those who use them give back to them. */
function forgetIdle(shares: Map<string, Share>): void {
  for (const [keyId, { atWork, bodyBytes, unsentBytes, line }] of shares) {
    if (atWork + bodyBytes + unsentBytes + line.length === 0) shares.delete(keyId);
  }
}

/**
 * While several keys ask, a place becomes free when the event loop's turn is over: what is read and answered without waiting
 * for anything, as it is on SQLite, would otherwise go on and on before anybody else's request was even read.
 */
function createTurnEnd(held: { atWork: number }, clock: () => number, then: (turnMs: number) => void) {
  const leaving: Share[] = [];
  let since = 0;
  const endTurn = () => {
    for (const share of leaving.splice(0)) {
      share.atWork -= share.leaving;
      held.atWork -= share.leaving;
      share.leaving = 0;
    }
    then(clock() - since);
  };
  return (share: Share): void => {
    if (share.leaving++ > 0) return;
    if (leaving.push(share) > 1) return;
    since = clock();
    setImmediate(endTurn);
  };
}

function createShare(leave: (share: Share) => void): Share {
  const share: Share = {
    atWork: 0,
    bodyBytes: 0,
    unsentBytes: 0,
    leaving: 0,
    line: [],
    leave: () => leave(share),
  };
  return share;
}
