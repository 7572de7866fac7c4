import { ApiError } from '../errors.ts';
import { hashApiKey, isApiKey } from './api-key.ts';
import type { ApiKey, KeyStore } from './key-store.ts';

/** A key found in the database is believed this long, in ms: a revoked one stops within five seconds. */
const BELIEVED_MS = 4000;
/** From this age on, in ms, a key in use is looked up again beside the request, which need not wait. */
const REFRESHED_MS = 2000;
const CACHE_SIZE = 10_000;

/** Gives the valid key of an `Authorization` header; ApiError `unauthorized` says why not. */
export type Authenticate = (authorization: string | undefined) => Promise<ApiKey>;

interface CachedKey {
  readonly key: ApiKey;
  readonly foundAt: number;
}

/**
 * Checks bearer keys against the store, through a short memory of those that exist. Unknown keys are
 * not remembered: a new key works at once.
 */
export function createAuthenticator(
  keys: KeyStore,
  now: () => number = performance.now.bind(performance),
): Authenticate {
  // By the header as it came, oldest first: its form, checksum and hash are worked out once for many requests. What is too
  // old to be believed goes with the next lookup.
  const cache = new Map<string, CachedKey>();
  const lookups = new Map<string, Promise<ApiKey | undefined>>();

  const remember = (authorization: string, cached: CachedKey | undefined) => {
    cache.delete(authorization);
    if (cached !== undefined) cache.set(authorization, cached);
    for (const [header, { foundAt }] of cache) {
      if (now() - foundAt < BELIEVED_MS && cache.size <= CACHE_SIZE) break;
      cache.delete(header);
    }
  };

  const lookUp = (authorization: string): Promise<ApiKey | undefined> => {
    const underWay = lookups.get(authorization);
    if (underWay !== undefined) return underWay;
    const token = readBearerToken(authorization);
    if (!isApiKey(token)) return Promise.resolve(undefined);
    const askedAt = now(); // what is found is as old as the question, not as the answer
    const lookup = keys
      .findByHash(hashApiKey(token))
      .then((key) => {
        remember(authorization, key && { key, foundAt: askedAt });
        return key;
      })
      .finally(() => lookups.delete(authorization));
    lookups.set(authorization, lookup);
    return lookup;
  };

  const find = (authorization: string): Promise<ApiKey | undefined> | ApiKey => {
    const cached = cache.get(authorization);
    const age = cached === undefined ? Number.POSITIVE_INFINITY : now() - cached.foundAt;
    if (cached === undefined || age >= BELIEVED_MS) return lookUp(authorization);
    if (age >= REFRESHED_MS) lookUp(authorization).catch(() => {}); // who must wait for the next one will see the fault
    return cached.key;
  };

  return async (authorization = '') => {
    const key = await find(authorization);
    if (key === undefined) throw invalidToken('The API key is not known.');
    if (key.revokedAt !== null) throw invalidToken('The API key has been revoked.');
    if (key.expiresAt !== null && key.expiresAt.getTime() <= Date.now()) throw invalidToken('The API key has expired.');
    return key;
  };
}

const CHALLENGE = 'Bearer realm="petstore"';

function readBearerToken(authorization: string): string {
  // The scheme is case-insensitive, RFC 9110 §11.1; the token is RFC 6750 §2.1's b64token.
  const [, token] = /^Bearer +([\w.~+/-]+=*) *$/i.exec(authorization) ?? [];
  if (token !== undefined) return token;
  const presented = /^Bearer +\S/i.test(authorization);
  if (presented) throw invalidToken('The API key is not known.');
  throw unauthorized('An API key is required: send the header "Authorization: Bearer <API_KEY>".', CHALLENGE);
}

// RFC 6750 §3: the error attribute belongs to answers to a presented token only.
function invalidToken(message: string): ApiError {
  return unauthorized(message, `${CHALLENGE}, error="invalid_token"`);
}

function unauthorized(message: string, challenge: string): ApiError {
  return new ApiError('unauthorized', message, { headers: { 'WWW-Authenticate': challenge } });
}
