import { type Deadline, deadlineIn, remainingMs } from '../../lib/deadline/deadline.ts';
import { KEY_CACHE_MS, KEY_LOOKUP_MS, KEY_REFRESH_MS } from '../deadlines.ts';
import { ApiError, serviceUnavailable } from '../errors.ts';
import { KEY_PREFIX } from '../key-mask.ts';
import { PRODUCT } from '../product.ts';
import { hashApiKey, isApiKey, KEY_LENGTH } from './api-key.ts';
import type { Caller } from './caller.ts';
import type { ApiKey, KeyStore } from './key-store.ts';

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

/** Checks the bearer keys of `Authorization` headers. */
export type Authenticator = ReturnType<typeof createAuthenticator>;

/**
 * Checks keys against the store, through a cache of valid keys. Unknown keys are not cached, so that a new key works at once.
 */
export function createAuthenticator(
  keys: Pick<KeyStore, 'findByHash'>,
  now: () => number = performance.now.bind(performance),
) {
  // By canonical header, so that a cache hit needs no hash and no check of the key's form.
  const cache = new Map<string, ValidKey>();
  const inFlight = new Map<string, Promise<ValidKey>>();
  const withinLimit = createConcurrencyLimit();

  const query = async (header: string, token: string): Promise<ValidKey> => {
    const queriedAt = now(); // before the query: a revocation during it must not be cached for longer
    const deadline = deadlineIn(KEY_LOOKUP_MS);
    const find = () => keys.findByHash(hashApiKey(token), deadline);
    const found = await (cache.has(header) ? find() : withinLimit(find, deadline));
    cache.delete(header);
    const entry = toEntry(found, queriedAt, now());
    const [oldest = ''] = cache.size < CACHE_SIZE ? [] : cache.keys();
    cache.delete(oldest);
    cache.set(header, entry); // at the end: the oldest entry is evicted first
    return entry;
  };

  /** Looks a key up, or joins a look-up of the same key in flight. */
  const queryOnce = (header: string, token: string): Promise<ValidKey> => {
    const lookup = inFlight.get(header) ?? query(header, token).finally(() => inFlight.delete(header));
    inFlight.set(header, lookup);
    return lookup;
  };

  /** The cached key, if it is still valid; an old entry is refreshed in the background. */
  const findCached = (header = ''): ValidKey | undefined => {
    const found = cache.get(header);
    const moment = now();
    if (found === undefined || moment >= found.validUntil) return undefined;
    // A failed refresh does not matter: when the entry has expired, a request looks the key up and waits.
    if (moment - found.queriedAt >= KEY_REFRESH_MS) queryOnce(header, readBearerKey(header)).catch(() => {});
    return found;
  };

  return {
    findCached,
    /** The key of the header, from the cache or the database. ApiError `unauthorized`, `too_many_requests` (full queue). */
    async lookUp(authorization = ''): Promise<ValidKey> {
      const token = readBearerKey(authorization);
      const header = `Bearer ${token}`; // canonical: one entry for each key, whatever the case and spaces of the header
      return findCached(header) ?? queryOnce(header, token);
    },
  };
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

function toEntry(key: ApiKey | undefined, queriedAt: number, answeredAt: number): ValidKey {
  if (key === undefined) throw invalidToken('The API key is not known.');
  if (key.revokedAt !== null) throw invalidToken('The API key has been revoked.');
  const leftMs = key.expiresAt === null ? Number.POSITIVE_INFINITY : key.expiresAt.getTime() - Date.now();
  if (leftMs <= 0) throw invalidToken('The API key has expired.');
  const caller = { keyId: key.id, ownerId: key.ownerId, mayWrite: !key.readOnly };
  return { caller, queriedAt, validUntil: Math.min(queriedAt + KEY_CACHE_MS, answeredAt + leftMs) };
}

const FORM = 'send the header "Authorization: Bearer <API_KEY>".';

function readBearerKey(authorization: string): string {
  // The scheme is case-insensitive, and spaces follow it: RFC 9110 §11.1 and §11.4.
  const [scheme, token] = /^Bearer(?: +(.*))?$/i.exec(authorization) ?? [];
  if (scheme === undefined) {
    const fault = authorization.includes(KEY_PREFIX)
      ? 'The Authorization header lacks the word Bearer'
      : 'An API key is required';
    throw unauthorized(`${fault}: ${FORM}`);
  }
  if (!token) throw unauthorized(`The Authorization header lacks the API key: ${FORM}`);
  if (!isApiKey(token)) {
    throw invalidToken(`The API key is cut or mistyped: a key has ${KEY_LENGTH} characters, without quotes or spaces.`);
  }
  return token;
}

// RFC 6750 §3: the error attribute is for requests that had a token.
function invalidToken(message: string): ApiError {
  return unauthorized(message, ', error="invalid_token"');
}

function unauthorized(message: string, more = ''): ApiError {
  return new ApiError('unauthorized', message, { headers: { 'WWW-Authenticate': `Bearer realm="${PRODUCT}"${more}` } });
}
