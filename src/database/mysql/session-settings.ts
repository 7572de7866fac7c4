import type { Connection } from 'mysql2';
import { errorNumber } from '../faults.ts';
import { poolError } from '../pool-error.ts';
import { ask } from './mysql-connection.ts';

/** What a session must know of the limits of its work. */
export interface SessionLimits {
  /** For the whole way to a session that is ready, in ms. */
  readonly connectMs: number;
  /** For a lock of a row or a table, in ms; whole seconds. */
  readonly lockMs: number;
  /** After which the server itself ends a statement, in ms; 0 for never. MySQL does so for SELECT only. */
  readonly statementMs: number;
  /** After which the server ends a session that asks nothing, and undoes its transaction, in ms; whole seconds. */
  readonly idleMs: number;
}

// Without NO_BACKSLASH_ESCAPES and ANSI_QUOTES, which would change how mysql2 must escape; strict, so that nothing is
// stored cut off or rounded.
const SQL_MODE = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION';

/** What a server says of its variables, by name. */
export type Variables = ReadonlyMap<string, string>;

/** A setting in a SET, its name and its literal. */
const SETTING = /(\w+) = ('[^']*'|\d+)/g;

/** What is stored, read and acknowledged rests on these settings: a session that lacks one is not used. */
const ESSENTIAL = /^(?:character_set|collation|sql_mode|autocommit|sql_select_limit|innodb_lock|\w+_isolation)/;

/** Each of them on means: this server takes no writes. A server has only some of them. */
export const REFUSING = ['read_only', 'super_read_only', 'innodb_read_only', 'offline_mode', 'tidb_super_read_only'];

/** Whether a server takes no writes. */
export function isReadOnly(variables: Variables): boolean {
  return REFUSING.some((name) => isOn(variables.get(name)));
}

/** Whether a variable that is on or off is on. */
export function isOn(value: unknown): boolean {
  // MariaDB 12 has more words for on.
  return value !== undefined && value !== null && !/^(?:0|off)?$/i.test(String(value));
}

/**
 * Nothing is left to the server's defaults and its `init_connect`: all that could change what a statement does or how long
 * it waits, as `name = literal`.
 */
function settingsSql({ lockMs, statementMs, idleMs }: SessionLimits): string {
  const lockSeconds = lockMs / 1000;
  const level = "'REPEATABLE-READ'";
  const everywhere = [
    "character_set_client = 'utf8mb4', character_set_connection = 'utf8mb4', character_set_results = 'utf8mb4'",
    "collation_connection = 'utf8mb4_bin'", // after the character set, which changes it
    `sql_mode = '${SQL_MODE}', autocommit = 1, completion_type = 'NO_CHAIN', time_zone = '+00:00'`,
    // A smaller limit would cut what has no LIMIT of its own, such as the look-up of several records.
    `sql_select_limit = ${2 ** 32 - 1}, sql_big_selects = 1, sql_safe_updates = 0, unique_checks = 1`,
    `innodb_lock_wait_timeout = ${lockSeconds}, lock_wait_timeout = ${lockSeconds}`, // of rows, of metadata
    `wait_timeout = ${idleMs / 1000}, net_read_timeout = 30, net_write_timeout = 30`,
  ];
  const mariadb = [
    `tx_isolation = ${level}, tx_read_only = 0, max_statement_time = ${statementMs / 1000}`,
    // Nobody waits any more for a transaction that asks nothing for as long as a statement may take.
    `idle_transaction_timeout = ${statementMs / 1000}`,
    // A read waits until its member has what was acknowledged before, whichever member wrote it,
    // https://mariadb.com/kb/en/galera-cluster-system-variables/#wsrep_sync_wait
    'wsrep_sync_wait = 1',
  ];
  const mysql8 = `transaction_isolation = ${level}, transaction_read_only = 0, max_execution_time = ${statementMs}`;
  // MariaDB reads /*M! and leaves out what MySQL 5.7 and later read, https://mariadb.com/kb/en/comment-syntax/
  return `${everywhere.join(', ')} /*M!100300 , ${mariadb.join(', ')} */ /*!80003 , ${mysql8} */`;
}

/** What a session should have and has not, of what its server knows: literals by name. */
export function missingSettings(variables: Variables, limits: SessionLimits): ReadonlyMap<string, string> {
  const settings = new Map<string, string>();
  for (const [, name = '', literal = ''] of settingsSql(limits).matchAll(SETTING)) settings.set(name, literal);
  // An account that may write to a read-only server must not: its writes would be lost.
  if (isReadOnly(variables)) for (const name of ['tx_read_only', 'transaction_read_only']) settings.set(name, '1');
  // A new primary answers once it has all of the old one's writes; what is stronger stays,
  // https://dev.mysql.com/doc/refman/9.7/en/group-replication-configuring-consistency-guarantees.html
  if (variables.get('group_replication_consistency') === 'EVENTUAL')
    settings.set('group_replication_consistency', "'BEFORE_ON_PRIMARY_FAILOVER'");
  for (const [name, literal] of settings) {
    const isUnknown = !variables.has(name) && !name.startsWith('character_set');
    if (isUnknown || isSame(variables.get(name), literal)) settings.delete(name);
  }
  return settings;
}

function isSame(shown = '', literal = ''): boolean {
  const value = literal.replaceAll("'", '');
  return shown === value || Number(shown) === Number(value) || ['OFF', 'ON'].indexOf(shown) === Number(value);
}

/** Sets all, and gives what the server says afterwards, also of `asked`; rejects when it has not taken what is essential. */
export async function setUp(
  connection: Connection,
  limits: SessionLimits,
  asked: readonly string[],
): Promise<Variables> {
  const sql = settingsSql(limits);
  const names = [...REFUSING, ...asked, ...sql.matchAll(SETTING).map(([, name]) => name)].join("', '");
  // SHOW gives those that exist; SELECT would fail at the first that does not.
  const read = async (): Promise<Variables> => {
    const rows = await ask(connection, `SHOW SESSION VARIABLES WHERE Variable_name IN ('${names}')`);
    return new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Value]));
  };
  await trySet(connection, [sql]);
  const variables = await read();
  const missing = [...missingSettings(variables, limits)].map((setting) => setting.join(' = '));
  if (missing.length === 0) return variables;
  // Where one is refused, the others are taken one by one.
  if (!(await trySet(connection, missing))) for (const setting of missing) await trySet(connection, [setting]);
  const now = await read();
  const refused = [...missingSettings(now, limits).keys()].filter((name) => ESSENTIAL.test(name));
  if (refused.length === 0) return now;
  const told = refused.map((name) => `${name} is ${now.get(name)}`).join(', ');
  throw poolError('POOL_SETTING_REFUSED', `the server does not let the session be set up: ${told}`);
}

/** Whether the server takes these; if it does not, as when it lacks one of them, it has said so itself. */
function trySet(connection: Connection, settings: readonly string[]): Promise<boolean> {
  return ask(connection, `SET SESSION ${settings.join(', ')}`).then(
    () => true,
    (error: unknown) => (errorNumber(error) > 0 ? false : Promise.reject(error)),
  );
}
