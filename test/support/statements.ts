import type { Database } from '../../src/gateway/database/connect.ts';
import type { Into } from '../../src/gateway/kinds.ts';

/** Tells, from now on, of each statement that is sent to a database. */
export function watchStatements({ knex }: Pick<Database, 'knex'>, note: (sql: string) => void): void {
  knex.on('query', ({ sql }: { sql: string }) => note(sql));
  const { client } = knex; // Knex types it as any
  for (const method of ['queryPrepared', 'insertPrepared']) {
    const original = client[method].bind(client);
    client[method] = (what: string | Into, ...rest: unknown[]) => {
      // a prepared statement makes no 'query' event
      note(typeof what === 'string' ? what : `${what.table} (${what.columns})`);
      return original(what, ...rest);
    };
  }
}
