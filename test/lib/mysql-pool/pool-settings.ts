import type { PoolLimits, PoolTimes } from '../../../src/lib/mysql-pool/mysql-pool.ts';

/** What tests of the pool set, in ms. */
export const LIMITS: PoolLimits = { lockMs: 2000, distantLockMs: 1000, statementMs: 5000, idleMs: 50_000 };

/** The times of the pools of tests, in ms. */
export const TIMES: PoolTimes = {
  nameLookupMs: 2000,
  connectMs: 2500,
  connectionEndMs: 500,
  roleIntervalMs: 500,
  roleTimeoutMs: 1000,
  roleMaxAgeMs: 1500,
  distantMs: 100,
};
