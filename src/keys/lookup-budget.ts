import type { Deadline } from '../deadline.ts';
import { keepRecent } from '../recent.ts';
import type { ApiKey, KeyStore } from './key-store.ts';
import { tooManyRequests } from './lines.ts';

/** Look-ups of keys nobody knows: as many at once as have been saved up, and so many more each second. */
const SAVED_MAX = 100;
const PER_SECOND = 50;
/** Those that may be without their answer at a time. */
const UNDER_WAY_MAX = 20;
/** Hashes of keys that are known to exist. */
const KNOWN_MAX = 100_000;
/** How often new keys are asked for while the budget is empty, in ms, and how far back, for clocks that differ. */
const LEARN_MS = 1000;
const CLOCK_SKEW_MS = 300_000;

/** Bounds what made-up keys cost the database. */
export interface LookupBudget {
  /**
   * Looks a key up, always when it is known to exist; else while the budget lasts, and ApiError `too_many_requests`
   * without a query beyond it.
   */
  spend(
    hash: string,
    lookUp: (deadline: Deadline) => Promise<ApiKey | undefined>,
    deadline: Deadline,
  ): Promise<ApiKey | undefined>;
}

/**
 * A token bucket for the look-ups that find nothing. While it is empty, one query a second learns which keys there are, so
 * that a new one works within a second even then.
 */
export function createLookupBudget(keys: Pick<KeyStore, 'hashesCreatedSince'>, now: () => number): LookupBudget {
  const known = keepRecent<boolean>(KNOWN_MAX);
  let saved = SAVED_MAX;
  let refilledAt = now();
  let underWay = 0;
  let learntAt = Number.NEGATIVE_INFINITY;
  let learntUntil = 0;

  const mayAsk = (): boolean => {
    const moment = now();
    saved = Math.min(SAVED_MAX, saved + ((moment - refilledAt) / 1000) * PER_SECOND);
    refilledAt = moment;
    return saved >= 1 && underWay < UNDER_WAY_MAX;
  };

  const learn = async (): Promise<void> => {
    if (now() - learntAt < LEARN_MS) return;
    learntAt = Number.POSITIVE_INFINITY; // one at a time
    const askedAt = Date.now();
    try {
      const hashes = await keys.hashesCreatedSince(new Date(learntUntil - CLOCK_SKEW_MS), KNOWN_MAX / 2);
      for (const hash of hashes) known.set(hash, true);
      learntUntil = askedAt;
    } finally {
      learntAt = now();
    }
  };

  const askUnknown = async (lookUp: () => Promise<ApiKey | undefined>): Promise<ApiKey | undefined> => {
    if (!mayAsk()) {
      learn().catch(() => {}); // the next one tries again
      throw tooManyRequests('Too many unknown API keys at the moment; try again shortly.');
    }
    saved--;
    underWay++;
    try {
      const key = await lookUp();
      if (key !== undefined) saved++;
      return key;
    } finally {
      underWay--;
    }
  };

  return {
    async spend(hash, lookUp, deadline) {
      const ask = () => lookUp(deadline);
      const isKnown = known.get(hash) === true;
      const key = await (isKnown ? ask() : askUnknown(ask));
      const isValid = key !== undefined && key.revokedAt === null;
      if (isValid !== isKnown) known.set(hash, isValid); // what was never known takes no room
      return key;
    },
  };
}
