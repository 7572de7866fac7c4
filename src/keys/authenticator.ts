import { deadlineIn } from '../deadline.ts';
import { BELIEVED_MS, KEY_LOOKUP_MS, REFRESHED_MS } from '../deadlines.ts';
import { ApiError } from '../errors.ts';
import { KEY_PREFIX } from '../key-mask.ts';
import { createLookupBudget } from '../load/lookup-budget.ts';
import { createRefusals } from '../load/refusals.ts';
import { PRODUCT } from '../product.ts';
import { hashApiKey, isApiKey } from './api-key.ts';
import type { ApiKey, KeyStore } from './key-store.ts';

const CACHE_SIZE = 10_000;

/** A key that was valid when the database was asked. */
export interface ValidKey {
  readonly key: ApiKey;
  /** Until when that is believed, in ms of `performance.now()`; never beyond its expiry. */
  readonly validUntil: number;
}

/** Checks bearer keys by the `Authorization` header they come in. */
export interface Authenticator {
  /** The key, where it is believed without asking anybody. */
  recall(authorization: string | undefined): ValidKey | undefined;
  /** The key by the database; ApiError `unauthorized` says why not, `too_many_requests` when too many unknown ones came. */
  lookUp(authorization: string | undefined): Promise<ValidKey>;
}

interface Found extends ValidKey {
  readonly foundAt: number;
  /** Until when the key is not looked up again, in ms of `performance.now()`. */
  readonly freshUntil: number;
  /** Why it is refused all the same. */
  readonly refusal: string | undefined;
}

/**
 * Checks keys against the store, through a short memory of those that exist. Unknown keys are not remembered: a new key
 * works at once.
 */
export function createAuthenticator(
  keys: KeyStore,
  now: () => number = performance.now.bind(performance),
): Authenticator {
  // By the header as it should come, oldest first: its form, checksum and hash are worked out once for many requests.
  const cache = new Map<string, Found>();
  const inFlight = new Map<string, Promise<Found | undefined>>();
  const isValid = ({ revokedAt }: ApiKey) => revokedAt === null;
  const withinBudget = createLookupBudget({ hashesCreatedSince: keys.hashesCreatedSince, isValid }, now);
  const refuse = createRefusals(now);

  const remember = (header: string, found: Found | undefined) => {
    cache.delete(header);
    if (found !== undefined) cache.set(header, found);
    for (const [oldest, { foundAt }] of cache) {
      if (now() - foundAt < BELIEVED_MS && cache.size <= CACHE_SIZE) break;
      cache.delete(oldest);
    }
  };

  const ask = async (header: string, token: string): Promise<Found | undefined> => {
    const askedAt = now(); // what is found is as old as the question, not as the answer
    const hash = hashApiKey(token);
    const deadline = deadlineIn(KEY_LOOKUP_MS);
    const key = await withinBudget(hash, () => keys.findByHash(hash, deadline));
    const found = key && toFound(key, askedAt, now());
    remember(header, found);
    return found;
  };

  /** Joins an equal look-up that is in flight. */
  const askOnce = (header: string, token: string): Promise<Found | undefined> => {
    const lookup = inFlight.get(header) ?? ask(header, token).finally(() => inFlight.delete(header));
    inFlight.set(header, lookup);
    return lookup;
  };

  const lookUp = async (authorization: string): Promise<ValidKey> => {
    const token = readBearerToken(authorization);
    if (!isApiKey(token)) throw invalidToken('The API key is not known.');
    const header = `Bearer ${token}`; // whatever its case and spaces were: one key has one entry
    const cached = cache.get(header);
    const isFresh = cached !== undefined && now() < cached.freshUntil;
    const found = isFresh ? cached : await askOnce(header, token);
    if (found === undefined) throw invalidToken('The API key is not known.');
    if (found.refusal !== undefined) throw invalidToken(found.refusal);
    return found;
  };

  return {
    recall(authorization = '') {
      const found = cache.get(authorization);
      const moment = now();
      if (found === undefined || moment >= found.validUntil) return undefined;
      if (moment - found.foundAt >= REFRESHED_MS) {
        askOnce(authorization, readBearerToken(authorization)).catch(() => {}); // who must wait for the next one will see the fault
      }
      return found;
    },

    lookUp: (authorization = '') => lookUp(authorization).catch(refuse),
  };
}

function toFound(key: ApiKey, foundAt: number, moment: number): Found {
  const { revokedAt, expiresAt } = key;
  const believedUntil = foundAt + BELIEVED_MS;
  const leftMs = expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt.getTime() - Date.now();
  if (revokedAt === null && leftMs > 0) {
    const validUntil = Math.min(believedUntil, moment + leftMs);
    return { key, foundAt, validUntil, freshUntil: validUntil, refusal: undefined };
  }
  const refusal = revokedAt === null ? 'The API key has expired.' : 'The API key has been revoked.';
  return { key, foundAt, validUntil: Number.NEGATIVE_INFINITY, freshUntil: believedUntil, refusal };
}

const CHALLENGE = `Bearer realm="${PRODUCT}"`;
const FORM = 'send the header "Authorization: Bearer <API_KEY>".';

function readBearerToken(authorization: string): string {
  // The scheme is case-insensitive, RFC 9110 §11.1; the token is RFC 6750 §2.1's b64token.
  const [, token] = /^Bearer +([\w.~+/-]+=*) *$/i.exec(authorization) ?? [];
  if (token !== undefined) return token;
  const presented = /^Bearer +\S/i.test(authorization);
  if (presented) throw invalidToken('The API key is not known.');
  if (/^Bearer *$/i.test(authorization))
    throw unauthorized(`The Authorization header lacks the API key: ${FORM}`, CHALLENGE);
  if (authorization.includes(KEY_PREFIX)) {
    throw unauthorized(`The Authorization header lacks the word Bearer: ${FORM}`, CHALLENGE);
  }
  throw unauthorized(`An API key is required: ${FORM}`, CHALLENGE);
}

// RFC 6750 §3: the error attribute belongs to answers to a presented token only.
function invalidToken(message: string): ApiError {
  return unauthorized(message, `${CHALLENGE}, error="invalid_token"`);
}

function unauthorized(message: string, challenge: string): ApiError {
  return new ApiError('unauthorized', message, { headers: { 'WWW-Authenticate': challenge } });
}
