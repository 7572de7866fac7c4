/** The used member of Knex's dialect for mysql2, which Knex publishes by path without types. */
declare module 'knex/lib/dialects/mysql2/index.js' {
  import { Knex } from 'knex';
  export default class Mysql2Client extends Knex.Client {
    _query(connection: unknown, query: unknown): Promise<unknown>;
  }
}

/** The used modules of rate-limiter-flexible, which has types for the whole package only. */
declare module 'rate-limiter-flexible/lib/RateLimiterCluster.js' {
  export { RateLimiterCluster, RateLimiterClusterMaster } from 'rate-limiter-flexible';
}

declare module 'rate-limiter-flexible/lib/RateLimiterMemory.js' {
  export { RateLimiterMemory as default } from 'rate-limiter-flexible';
}
