/** The used members of Knex's dialect for better-sqlite3, which Knex publishes by path without types. */
declare module 'knex/lib/dialects/better-sqlite3/index.js' {
  import { Knex } from 'knex';
  export default class BetterSqlite3Client extends Knex.Client {
    pool: NonNullable<Knex.Client['pool']> & Record<'numUsed' | 'numFree' | 'numPendingAcquires', () => number>;
    /** Whether it is the client of a transaction. */
    transacting?: boolean;
    connectionSettings: import('./sqlite-connection.ts').SqliteTarget;
    _driver(): unknown;
    acquireRawConnection(): Promise<unknown>;
    _formatBindings(bindings: readonly unknown[] | undefined): (string | number | bigint | null)[];
    _query(connection: unknown, query: unknown): Promise<unknown>;
    destroy(callback?: (error?: unknown) => void): Promise<void>;
  }
}
