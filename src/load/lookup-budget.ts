import type { Deadline } from '../deadline.ts';
import { keepRecent } from '../recent.ts';
import { tooManyRequests } from './queue.ts';

/** Look-ups of keys nobody knows: as many at once as have been saved up, and so many more each second. */
const SAVED_MAX = 100;
const PER_SECOND = 50;
/** Those that may be without their answer at a time. */
const UNDER_WAY_MAX = 20;
/** Hashes of keys that are known to exist. */
const KNOWN_MAX = 100_000;
/** Those who may wait until it is learnt; each holds its request. */
const WAITING_MAX = 1000;
/** How often it is learnt which keys there are while unknown ones may not be asked for, in ms; how far back, for clocks that differ. */
const LEARN_MS = 1000;
const CLOCK_SKEW_MS = 300_000;

/** Where the keys are: what the budget has to know of them. */
export interface KnownKeys<Key> {
  /** The hashes of the valid keys made since a moment, the newest first, `most` at most. */
  hashesCreatedSince(moment: Date, most: number, deadline: Deadline): Promise<string[]>;
  /** Whether a key that was found would be among them; one that would not is treated as unknown. */
  isValid(key: Key): boolean;
}

/** Bounds what made-up keys cost the database. */
export interface LookupBudget<Key> {
  /**
   * Looks a key up, always when it is known to exist; else while the budget lasts. Beyond it ApiError `too_many_requests`
   * without a query for this key, or DatabaseFault `unavailable` when it cannot be learnt which keys there are.
   */
  spend(
    hash: string,
    lookUp: (deadline: Deadline) => Promise<Key | undefined>,
    deadline: Deadline,
  ): Promise<Key | undefined>;
}

/**
 * A token bucket for the look-ups that find nothing. While it is empty, or many are under way, one query a second learns
 * which keys there are. Who would be refused waits for it: many keys at once after a start all work, and during a flood a
 * new one works within a second.
 */
export function createLookupBudget<Key>(keys: KnownKeys<Key>, now: () => number): LookupBudget<Key> {
  const known = keepRecent<boolean>(KNOWN_MAX);
  let saved = SAVED_MAX;
  let refilledAt = now();
  let underWay = 0;
  let waiting = 0;
  let learning: Promise<void> | undefined;
  let learntAt = Number.NEGATIVE_INFINITY;
  let learntUntil = 0;

  const isKnown = (hash: string): boolean => known.get(hash) === true;

  const mayAsk = (): boolean => {
    const moment = now();
    saved = Math.min(SAVED_MAX, saved + ((moment - refilledAt) / 1000) * PER_SECOND);
    refilledAt = moment;
    return saved >= 1 && underWay < UNDER_WAY_MAX;
  };

  const askWhichThereAre = async (deadline: Deadline): Promise<void> => {
    const askedAt = Date.now();
    const hashes = await keys.hashesCreatedSince(new Date(learntUntil - CLOCK_SKEW_MS), KNOWN_MAX / 2, deadline);
    for (const hash of hashes) known.set(hash, true);
    learntUntil = askedAt;
  };
  const noteLearnt = () => {
    learntAt = now();
    learning = undefined;
  };

  /** Waits for the query that is under way; each who does has a later deadline than who began it. */
  const learn = async (deadline: Deadline): Promise<void> => {
    if (now() - learntAt >= LEARN_MS) learning ??= askWhichThereAre(deadline).finally(noteLearnt);
    await learning;
  };

  const askUnknown = async (lookUp: () => Promise<Key | undefined>): Promise<Key | undefined> => {
    if (!mayAsk()) throw tooManyRequests('Too many unknown API keys at the moment; try again shortly.');
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
      if (!isKnown(hash) && !mayAsk() && waiting < WAITING_MAX) {
        waiting++;
        await learn(deadline).finally(() => waiting--);
      }
      const wasKnown = isKnown(hash);
      const key = await (wasKnown ? ask() : askUnknown(ask));
      const isValid = key !== undefined && keys.isValid(key);
      if (isValid !== wasKnown) known.set(hash, isValid); // what was never known takes no room
      return key;
    },
  };
}
