import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
// Knex publishes its dialects by path.
import BetterSqlite3Client from 'knex/lib/dialects/better-sqlite3/index.js';

interface KnexQuery {
  sql: string;
  bindings?: readonly SQLInputValue[];
  response?: unknown;
}

/** Knex on Node's own SQLite: only the comparison of start times uses it. */
export class NodeSqliteClient extends BetterSqlite3Client {
  override _driver(): typeof DatabaseSync {
    return DatabaseSync;
  }

  override async acquireRawConnection(): Promise<DatabaseSync> {
    const settings: unknown = this.connectionSettings; // as they were given; the gateway's types know only its own
    return new DatabaseSync((settings as { filename: string }).filename);
  }

  override async _query(connection: DatabaseSync, query: KnexQuery): Promise<KnexQuery> {
    const statement = connection.prepare(query.sql);
    const bindings = query.bindings ?? [];
    query.response = statement.columns().length > 0 ? statement.all(...bindings) : statement.run(...bindings);
    return query;
  }
}
