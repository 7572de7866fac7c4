import type { RateLimiterRes } from 'rate-limiter-flexible';
// By path: the whole package has a limiter for each of twenty stores, a tenth of the start.
import { RateLimiterCluster, RateLimiterClusterMaster } from 'rate-limiter-flexible/lib/RateLimiterCluster.js';
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js';
import { IS_WORKER } from '../cluster-worker.ts';
import { RATE_COUNT_MS } from '../deadlines.ts';
import { ApiError } from '../errors.ts';

/** Counts one request of a key. */
export type RateLimit = ReturnType<typeof createRateLimit>;

/** The headers of a rate limit and, beyond the limit, ApiError `too_many_requests`. */
export interface Counted {
  readonly headers: Readonly<Record<string, string>>;
  readonly refusal?: ApiError;
}

/**
 * Limits the requests of each key in windows of fixed length, over all workers of this machine. Gives a function that counts a
 * request. When the count is not available, it gives undefined, and the request passes.
 */
export function createRateLimit({ requests, seconds }: { requests: number; seconds: number }) {
  const options = { points: requests, duration: seconds, keyPrefix: 'key' };
  const limiter = IS_WORKER
    ? new RateLimiterCluster({ ...options, timeoutMs: RATE_COUNT_MS })
    : new RateLimiterMemory(options);
  const policy = `"default";q=${requests};w=${seconds}`;
  return async (keyId: string): Promise<Counted | undefined> => {
    // Beyond the limit it rejects with the count.
    const count = await limiter.consume(keyId).catch((refusal: RateLimiterRes | Error) => refusal);
    if (count instanceof Error) return undefined;
    // By the clock of the day, which may have been set back: then a window would seem longer than it is.
    const resetS = Math.min(Math.ceil(count.msBeforeNext / 1000), seconds);
    // https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-10
    const headers = { 'RateLimit-Policy': policy, RateLimit: `"default";r=${count.remainingPoints};t=${resetS}` };
    if (count.consumedPoints <= requests) return { headers };
    const message = `This API key may send ${requests} requests in ${seconds} seconds.`;
    return {
      headers,
      refusal: new ApiError('too_many_requests', message, { headers: { 'Retry-After': String(resetS) } }),
    };
  };
}

/** Makes the primary keep the counts of all workers. */
export function countForWorkers(): void {
  new RateLimiterClusterMaster();
}
