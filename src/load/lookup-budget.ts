import { atMostOnce } from '../at-most-once.ts';
import { type Deadline, deadlineIn } from '../deadline.ts';
import { KEY_LOOKUP_MS } from '../deadlines.ts';
import { createLruCache } from '../lru-cache.ts';
import { tooManyRequests } from './queue.ts';
import { createTokenBucket } from './token-bucket.ts';

/** Look-ups that find nothing: at once, and each second. */
const UNKNOWN_MAX = 100;
const UNKNOWN_PER_SECOND = 50;
/** Look-ups of unknown keys in flight. */
const IN_FLIGHT_MAX = 20;
/** Hashes of keys that are known to exist. */
const KNOWN_MAX = 100_000;
/** Those who may wait until it is learnt which keys there are; each holds its request. */
const WAITING_MAX = 1000;
/** How often it is learnt while unknown ones may not be looked up, in ms; how far back, for clocks that differ. */
const LEARN_MS = 1000;
const CLOCK_SKEW_MS = 300_000;

/** What the budget must know of keys. */
interface Keys<Key> {
  /** The hashes of the valid keys made since a moment, the newest first, `most` at most. */
  hashesCreatedSince(moment: Date, most: number, deadline: Deadline): Promise<string[]>;
  /** Whether a key that was found would be among them; one that would not is treated as unknown. */
  isValid(key: Key): boolean;
}

/**
 * Bounds what made-up keys cost the database. Gives what looks a key up: always when it is known to exist, else while there is
 * a token for a look-up that may find nothing. Without one, a query a second learns which keys there are, and who would be
 * refused waits for it: many keys at once after a start all work, and during a flood a new one works within a second.
 * ApiError `too_many_requests` without a query for this key; DatabaseFault `unavailable` when it cannot be learnt.
 */
export function createLookupBudget<Key>({ hashesCreatedSince, isValid }: Keys<Key>, now: () => number) {
  const known = createLruCache<boolean>(KNOWN_MAX);
  const bucket = createTokenBucket(UNKNOWN_MAX, UNKNOWN_PER_SECOND, now);
  let inFlight = 0;
  let waiting = 0;
  let learntUntil = 0;
  const mayLookUp = () => inFlight < IN_FLIGHT_MAX && bucket.hasToken();

  const learnKnown = atMostOnce(
    LEARN_MS,
    async () => {
      const askedAt = Date.now();
      const since = new Date(learntUntil - CLOCK_SKEW_MS);
      for (const hash of await hashesCreatedSince(since, KNOWN_MAX / 2, deadlineIn(KEY_LOOKUP_MS)))
        known.set(hash, true);
      learntUntil = askedAt;
    },
    now,
  );

  const lookUpUnknown = async (lookUp: () => Promise<Key | undefined>): Promise<Key | undefined> => {
    if (!mayLookUp()) throw tooManyRequests('Too many unknown API keys at the moment; try again shortly.');
    inFlight++;
    const key = await lookUp().finally(() => inFlight--);
    if (key === undefined) bucket.take();
    return key;
  };

  return async (hash: string, lookUp: () => Promise<Key | undefined>): Promise<Key | undefined> => {
    if (known.get(hash) !== true && !mayLookUp() && waiting < WAITING_MAX) {
      waiting++;
      await learnKnown().finally(() => waiting--);
    }
    const wasKnown = known.get(hash) === true;
    const key = await (wasKnown ? lookUp() : lookUpUnknown(lookUp));
    const isKnown = key !== undefined && isValid(key);
    if (isKnown !== wasKnown) known.set(hash, isKnown); // what was never known takes no room
    return key;
  };
}
