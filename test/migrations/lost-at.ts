import type { Database } from '../../src/gateway/database/connect.ts';

/** What changes nothing, and so leaves nothing behind when it is the last that was done. */
const CHANGES_NOTHING = /^\s*(?:select|show|pragma|set|do|begin|start|commit|rollback|savepoint|release)\b/i;

/**
 * The database, whose work of minutes loses its connection when `most` of its changing statements are done: whatever it
 * asks after that fails, a rollback too. `done` tells those that were done.
 */
export function losingItsConnection(database: Database, most = Number.POSITIVE_INFINITY) {
  const done: string[] = [];
  const forLongWork = (): Database => {
    const own = database.forLongWork();
    // A transaction's client is made anew from this prototype, so a change of the client itself would not reach it.
    const prototype = Object.getPrototypeOf(own.knex.client);
    const ask = prototype._query;
    let isLost = false;
    prototype._query = function (connection: unknown, query: { sql: string }) {
      const changes = !CHANGES_NOTHING.test(query.sql);
      isLost ||= changes && done.length >= most;
      if (isLost) return Promise.reject(new Error('the connection is lost'));
      if (changes) done.push(query.sql);
      return ask.call(this, connection, query);
    };
    const close = async () => {
      prototype._query = ask;
      await own.close();
    };
    return { ...own, close };
  };
  return { database: { ...database, forLongWork }, done };
}
