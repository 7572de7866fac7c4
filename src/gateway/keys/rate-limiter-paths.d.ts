/** The used modules of rate-limiter-flexible, which has types for the whole package only. */
declare module 'rate-limiter-flexible/lib/RateLimiterCluster.js' {
  export { RateLimiterCluster, RateLimiterClusterMaster } from 'rate-limiter-flexible';
}

declare module 'rate-limiter-flexible/lib/RateLimiterMemory.js' {
  export { RateLimiterMemory as default } from 'rate-limiter-flexible';
}
