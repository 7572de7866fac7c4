import { type Deadline, deadlineIn, remainingMs } from '../deadline.ts';
import { BELIEVED_MS, KEY_LOOKUP_MS, REFRESHED_MS } from '../deadlines.ts';
import { ApiError, serviceUnavailable } from '../errors.ts';
import { KEY_PREFIX } from '../key-mask.ts';
import { PRODUCT } from '../product.ts';
import { hashApiKey, isApiKey } from './api-key.ts';
import type { ApiKey, KeyStore } from './key-store.ts';

const CACHE_SIZE = 10_000;
/** Look-ups in flight of keys that are not in the cache, and requests that wait for one. Made-up keys cost no more than these. */
const LOOKUPS_MAX = 20;
const WAITING_MAX = 1000;

/** A key that was valid when the database was asked. */
export interface ValidKey {
  readonly key: ApiKey;
  /** Until when the cached key is used, in ms of `performance.now()`; never beyond its expiry. */
  readonly validUntil: number;
}

interface CacheEntry extends ValidKey {
  /** When the database was asked, on the same clock. */
  readonly askedAt: number;
}

/** Checks bearer keys by the `Authorization` header they come in. */
export type Authenticator = ReturnType<typeof createAuthenticator>;

/**
 * Checks keys against the store, through a cache of valid keys. Keys that the store does not know are not cached: a new key
 * works at once.
 */
export function createAuthenticator(
  keys: Pick<KeyStore, 'findByHash'>,
  now: () => number = performance.now.bind(performance),
) {
  // By the canonical header: the form, checksum and hash of a key are computed once for many requests.
  const cache = new Map<string, CacheEntry>();
  const inFlight = new Map<string, Promise<CacheEntry>>();
  const withinLimit = createLimit();

  const ask = async (header: string, token: string): Promise<CacheEntry> => {
    const askedAt = now(); // the age of an answer counts from the question
    const deadline = deadlineIn(KEY_LOOKUP_MS);
    const find = () => keys.findByHash(hashApiKey(token), deadline);
    const found = await (cache.has(header) ? find() : withinLimit(find, deadline));
    cache.delete(header);
    const entry = toEntry(found, askedAt, now());
    const [oldest = ''] = cache.size < CACHE_SIZE ? [] : cache.keys();
    cache.delete(oldest);
    cache.set(header, entry); // at the end: the oldest answer is the first to go
    return entry;
  };

  /** Joins a look-up of the same key that is in flight. */
  const askOnce = (header: string, token: string): Promise<CacheEntry> => {
    const lookup = inFlight.get(header) ?? ask(header, token).finally(() => inFlight.delete(header));
    inFlight.set(header, lookup);
    return lookup;
  };

  /** The key, where the cache suffices; an old entry is refreshed meanwhile. */
  const recall = (header = ''): ValidKey | undefined => {
    const found = cache.get(header);
    const moment = now();
    if (found === undefined || moment >= found.validUntil) return undefined;
    // A failure is told to the request that finds the entry too old.
    if (moment - found.askedAt >= REFRESHED_MS) askOnce(header, readBearerKey(header)).catch(() => {});
    return found;
  };

  return {
    recall,
    /** The key by the database; ApiError `unauthorized` says why not, `too_many_requests` when too many look-ups wait. */
    async lookUp(authorization = ''): Promise<ValidKey> {
      const token = readBearerKey(authorization);
      const header = `Bearer ${token}`; // whatever its case and spaces were: a key has one entry
      return recall(header) ?? askOnce(header, token);
    },
  };
}

/** Gives what runs look-ups, a bounded number at once. The others wait in a queue: ApiError `too_many_requests` when it is full. */
function createLimit() {
  const queue: (() => void)[] = [];
  let inFlight = 0;
  const release = () => {
    const next = queue.shift();
    if (next) next();
    else inFlight--;
  };
  return async <Found>(find: () => Promise<Found>, deadline: Deadline): Promise<Found> => {
    if (inFlight < LOOKUPS_MAX) {
      inFlight++;
    } else {
      if (queue.length >= WAITING_MAX) {
        throw new ApiError('too_many_requests', 'Too many unknown API keys at the moment; try again shortly.');
      }
      await new Promise<void>((resolve) => queue.push(resolve)); // each look-up before it ends by its own deadline
    }
    try {
      if (remainingMs(deadline) === 0) throw serviceUnavailable(new Error('a key waited too long for its look-up'));
      return await find();
    } finally {
      setImmediate(release); // when the requests of everybody else have been read
    }
  };
}

function toEntry(key: ApiKey | undefined, askedAt: number, answeredAt: number): CacheEntry {
  if (key === undefined) throw invalidToken('The API key is not known.');
  if (key.revokedAt !== null) throw invalidToken('The API key has been revoked.');
  const leftMs = key.expiresAt === null ? Number.POSITIVE_INFINITY : key.expiresAt.getTime() - Date.now();
  if (leftMs <= 0) throw invalidToken('The API key has expired.');
  return { key, askedAt, validUntil: Math.min(askedAt + BELIEVED_MS, answeredAt + leftMs) };
}

const CHALLENGE = `Bearer realm="${PRODUCT}"`;
const FORM = 'send the header "Authorization: Bearer <API_KEY>".';

function readBearerKey(authorization: string): string {
  // The scheme is case-insensitive, and spaces follow it: RFC 9110 §11.1 and §11.4.
  const [scheme, token] = /^Bearer(?: +(.*))?$/i.exec(authorization) ?? [];
  if (scheme === undefined) {
    const fault = authorization.includes(KEY_PREFIX)
      ? 'The Authorization header lacks the word Bearer'
      : 'An API key is required';
    throw unauthorized(`${fault}: ${FORM}`, CHALLENGE);
  }
  if (!token) throw unauthorized(`The Authorization header lacks the API key: ${FORM}`, CHALLENGE);
  if (!isApiKey(token)) throw invalidToken('The API key is not known.');
  return token;
}

// RFC 6750 §3: the error attribute belongs to answers to a presented token only.
function invalidToken(message: string): ApiError {
  return unauthorized(message, `${CHALLENGE}, error="invalid_token"`);
}

function unauthorized(message: string, challenge: string): ApiError {
  return new ApiError('unauthorized', message, { headers: { 'WWW-Authenticate': challenge } });
}
