import { type Deadline, deadlineIn, remainingMs } from '../../lib/deadline/deadline.ts';
import { copyText } from '../caches.ts';
import { KEY_CACHE_MS, KEY_LOOKUP_MS, KEY_REFRESH_MS } from '../deadlines.ts';
import { ApiError, serviceUnavailable } from '../errors.ts';
import { KEY_PREFIX } from '../masking.ts';
import { PRODUCT } from '../product.ts';
import { type Caller, hashApiKey, isApiKey, KEY_LENGTH } from './api-key.ts';
import type { KeyStore, StoredKey } from './key-store.ts';

const CACHE_SIZE = 10_000;
/** Limits of look-ups of uncached keys, in flight and queued. They bound what made-up keys cost the database. */
const LOOKUPS_MAX = 20;
const WAITING_MAX = 1000;

/** A key that was valid when it was looked up. */
export interface ValidKey {
  readonly caller: Caller;
  /** When the cache entry expires, in ms of `performance.now()`; not later than the key itself. */
  readonly validUntil: number;
  /** When the look-up began, in ms of `performance.now()`. */
  readonly queriedAt: number;
}

/** Checks API keys. */
export type Authenticator = ReturnType<typeof createAuthenticator>;

/**
 * Checks keys against the store, through a cache of valid keys. Unknown keys are not cached, so that a new key works at once.
 */
export function createAuthenticator(
  keys: Pick<KeyStore, 'findByHash'>,
  now: () => number = performance.now.bind(performance),
) {
  // By key, so that a hit needs no hash and no check of the key's form.
  const cache = new Map<string, ValidKey>();
  const inFlight = new Map<string, Promise<ValidKey>>();
  const withinLimit = createConcurrencyLimit();

  const query = async (key: string): Promise<ValidKey> => {
    const queriedAt = now(); // before the query: a revocation during it must not be cached for longer
    const deadline = deadlineIn(KEY_LOOKUP_MS);
    const find = () => keys.findByHash(hashApiKey(key), deadline);
    const found = await (cache.has(key) ? find() : withinLimit(find, deadline));
    cache.delete(key);
    const entry = requireValid(found, queriedAt, now());
    if (cache.size >= CACHE_SIZE) cache.delete(cache.keys().next().value ?? '');
    cache.set(copyText(key), entry); // at the end: the oldest entry is evicted first
    return entry;
  };

  /** Looks a key up, or joins a look-up of the same key in flight. */
  const queryOnce = (key: string): Promise<ValidKey> => {
    const lookup = inFlight.get(key) ?? query(key).finally(() => inFlight.delete(key));
    inFlight.set(key, lookup);
    return lookup;
  };

  /** The cached key, if it is still valid; an old entry is refreshed in the background. */
  const findCached = (key: string): ValidKey | undefined => {
    const found = cache.get(key);
    const moment = now();
    if (found === undefined || moment >= found.validUntil) return undefined;
    // A failed refresh does not matter: when the entry has expired, a request looks the key up and waits.
    if (moment - found.queriedAt >= KEY_REFRESH_MS) queryOnce(key).catch(() => {});
    return found;
  };

  return {
    findCached,
    /** The valid key, from the database. ApiError `unauthorized`, `too_many_requests` (full queue), `service_unavailable`. */
    async lookUp(key: string): Promise<ValidKey> {
      if (!isApiKey(key))
        throw invalidToken(
          `The API key is cut or mistyped: a key has ${KEY_LENGTH} characters, without quotes or spaces.`,
        );
      return queryOnce(key);
    },
  };
}

/**
 * Checks a key once more, after a slow body or a wait in a queue. It queries the database only if the cache entry has expired.
 * ApiError `unauthorized`, `service_unavailable` when too little time is left.
 */
export async function lookUpAgain({ findCached, lookUp }: Authenticator, key: string, deadline: Deadline) {
  const cached = findCached(key);
  if (!cached && remainingMs(deadline) < KEY_LOOKUP_MS)
    throw serviceUnavailable(new Error('too little time is left to look the key up again'));
  return cached ?? lookUp(key);
}

/** Limits the look-ups in flight; the others are queued. ApiError `too_many_requests` when the queue is full. */
function createConcurrencyLimit() {
  const queue: (() => void)[] = [];
  let inFlight = 0;
  const release = () => {
    const next = queue.shift();
    if (next) next();
    else inFlight--;
  };
  return async <Found>(find: () => Promise<Found>, deadline: Deadline): Promise<Found> => {
    if (queue.length >= WAITING_MAX) {
      throw new ApiError('too_many_requests', 'Too many unknown API keys at the moment; try again shortly.');
    }
    if (inFlight < LOOKUPS_MAX) inFlight++;
    else await new Promise<void>((resolve) => queue.push(resolve)); // bounded: each look-up in flight ends at its deadline
    try {
      if (remainingMs(deadline) === 0) throw serviceUnavailable(new Error('a key waited too long for its look-up'));
      return await find();
    } finally {
      setImmediate(release); // after the event loop has read other requests
    }
  };
}

/** The cache entry of a valid key. ApiError `unauthorized` for any other. */
function requireValid(stored: StoredKey | undefined, queriedAt: number, answeredAt: number): ValidKey {
  if (stored === undefined) throw invalidToken('The API key is not known.');
  if (stored.revokedAt !== null) throw invalidToken('The API key has been revoked.');
  const leftMs = stored.expiresAt === null ? Number.POSITIVE_INFINITY : stored.expiresAt.getTime() - Date.now();
  if (leftMs <= 0) throw invalidToken('The API key has expired.');
  const caller = { keyId: stored.id, ownerId: stored.ownerId, mayWrite: !stored.readOnly };
  return { caller, queriedAt, validUntil: Math.min(queriedAt + KEY_CACHE_MS, answeredAt + leftMs) };
}

const FORM = 'send the header "Authorization: Bearer <API_KEY>".';

/** The API key in a header `Authorization`, whatever its form. ApiError `unauthorized` without one. */
export function readBearerKey(authorization = ''): string {
  // The scheme is case-insensitive, and spaces follow it: RFC 9110 §11.1 and §11.4.
  const [scheme, key] = /^Bearer(?: +(.*))?$/i.exec(authorization) ?? [];
  if (scheme === undefined) {
    const fault = authorization.includes(KEY_PREFIX)
      ? 'The Authorization header lacks the word Bearer'
      : 'An API key is required';
    throw unauthorized(`${fault}: ${FORM}`);
  }
  if (!key) throw unauthorized(`The Authorization header lacks the API key: ${FORM}`);
  return key;
}

// RFC 6750 §3: the error attribute is for requests that had a token.
function invalidToken(message: string): ApiError {
  return unauthorized(message, ', error="invalid_token"');
}

function unauthorized(message: string, more = ''): ApiError {
  return new ApiError('unauthorized', message, { headers: { 'WWW-Authenticate': `Bearer realm="${PRODUCT}"${more}` } });
}
