/** What we use of Knex's dialect class, which it publishes by path without types. */
declare module 'knex/lib/dialects/better-sqlite3/index.js' {
  import { Knex } from 'knex';
  export default class BetterSqlite3Client extends Knex.Client {
    connectionSettings: { filename: string };
    _driver(): unknown;
    acquireRawConnection(): Promise<unknown>;
    _query(connection: unknown, query: unknown): Promise<unknown>;
  }
}
