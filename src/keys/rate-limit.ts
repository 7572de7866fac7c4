import cluster from 'node:cluster';
import { RateLimiterCluster, RateLimiterClusterMaster, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { COUNT_MS } from '../deadlines.ts';
import { ApiError } from '../errors.ts';

/** So many requests of one API key in so many seconds. */
export interface RateLimitPolicy {
  readonly requests: number;
  readonly seconds: number;
}

/**
 * Counts a request of a key and tells it what is left, by `setHeader`. ApiError `too_many_requests` when nothing is. Where
 * the count cannot be had, the request passes.
 */
export type RateLimit = (keyId: string, setHeader: (field: string, value: string) => void) => Promise<void>;

/** Counts requests of each key in windows of fixed length; together with the other workers of this machine, if it has any. */
export function createRateLimit({ requests, seconds }: RateLimitPolicy): RateLimit {
  const options = { points: requests, duration: seconds, keyPrefix: 'key' };
  const limiter = cluster.isWorker
    ? new RateLimiterCluster({ ...options, timeoutMs: COUNT_MS })
    : new RateLimiterMemory(options);
  const policy = `"default";q=${requests};w=${seconds}`;
  return async (keyId, setHeader) => {
    let isOver = false;
    const count = await limiter.consume(keyId).catch((refusal: unknown) => {
      isOver = refusal instanceof RateLimiterRes;
      return isOver ? (refusal as RateLimiterRes) : undefined; // as the line above has seen
    });
    if (count === undefined) return;
    const resetS = Math.max(1, Math.ceil(count.msBeforeNext / 1000));
    // https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-10
    setHeader('RateLimit-Policy', policy);
    setHeader('RateLimit', `"default";r=${count.remainingPoints};t=${resetS}`);
    if (!isOver) return;
    throw new ApiError('too_many_requests', `This API key may send ${requests} requests in ${seconds} seconds.`, {
      headers: { 'Retry-After': String(resetS) },
    });
  };
}

/** In the primary: keeps the counts of all workers. */
export function countForWorkers(): void {
  new RateLimiterClusterMaster();
}
