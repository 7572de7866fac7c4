/** What the benchmark tells each comparison: the same names that the gateway reads. */
export const settings = {
  port: Number(process.env.PORT ?? 4000),
  databaseUrl: process.env.DATABASE_URL ?? '',
  poolMax: Number(process.env.DATABASE_POOL_MAX ?? 10),
} as const;

export const HOST = '127.0.0.1';
