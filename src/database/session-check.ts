import type { Database } from './connect.ts';
import { REQUEST_LIMITS } from './mysql/mysql.ts';
import { PREPARED_MAX } from './mysql/mysql-connection.ts';
import { missingSettings } from './mysql/mysql-session.ts';

/**
 * Compares a session with what the gateway sets in it: facts by name, and one line for each setting that the server has not
 * taken. DatabaseFault `unavailable` when the database is away.
 */
export async function examineSession(database: Database) {
  if (database.engine === 'sqlite') return { facts: {}, problems: [] };
  const show = async (what: string) => {
    const rows = await database.query<{ Variable_name: string; Value: string }>(`SHOW ${what}`, [], undefined);
    return new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Value]));
  };
  const variables = await show('SESSION VARIABLES');
  const status = await show("GLOBAL STATUS LIKE 'Prepared_stmt_count'");
  const problems = [...missingSettings(variables, REQUEST_LIMITS)].map(
    ([name, literal]) => `the server has ${name} = ${variables.get(name)}, the gateway sets ${literal}`,
  );
  const statements = `${status.get('Prepared_stmt_count')} of ${variables.get('max_prepared_stmt_count')}`;
  const facts = {
    session: problems.length === 0 ? 'as the gateway sets it' : 'not as the gateway sets it',
    'prepared statements': `${statements}; each connection of a gateway has up to ${PREPARED_MAX}`,
  };
  return { facts, problems };
}
