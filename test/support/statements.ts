import type { Database } from '../../src/gateway/database/connect.ts';

/** Tells, from now on, of each statement that is sent to a database. */
export function watchStatements({ knex }: Pick<Database, 'knex'>, note: (sql: string) => void): void {
  knex.on('query', ({ sql }: { sql: string }) => note(sql));
  const { client } = knex; // Knex types it as any
  for (const method of ['queryPrepared', 'insertPrepared']) {
    const original = client[method].bind(client);
    client[method] = (sql: string, ...rest: unknown[]) => {
      note(sql); // a prepared statement makes no 'query' event
      return original(sql, ...rest);
    };
  }
}
