import { partsOf } from '../mysql-errors/mysql-errors.ts';
import { type MysqlConnection, PREPARED_MAX, queryRows } from './mysql-connection.ts';
import { MysqlPoolError } from './pool-error.ts';

/** Limits that the server enforces, in ms. */
export interface PoolLimits {
  /** Wait for a lock of a row or a table; whole seconds. */
  readonly lockMs: number;
  /** `lockMs` of a session with a distant server. */
  readonly distantLockMs: number;
  /** Time of a statement; 0 for no limit. MySQL enforces it for SELECT only. */
  readonly statementMs: number;
  /** Idle time of a session, which is then ended and its transaction rolled back; whole seconds. */
  readonly idleMs: number;
}

/** The pool's own times, in ms. */
export interface PoolTimes {
  /** The look-up of a host's name. */
  readonly nameLookupMs: number;
  /** From the first packet to a session that is ready. */
  readonly connectMs: number;
  /** The wait for a connection to end by itself after COM_QUIT. */
  readonly connectionEndMs: number;
  /** How often it is checked, while a server is used, whether it takes writes. */
  readonly roleIntervalMs: number;
  /** The timeout of such a check. */
  readonly roleTimeoutMs: number;
  /** The greatest age of a check that a caller relies on: at least the two others together. */
  readonly roleMaxAgeMs: number;
  /** The round trip from which a server is distant: statements are sent as text, because preparing one is a round trip more. */
  readonly distantMs: number;
}

/** Variables of a session or a server, by name. */
export type Variables = ReadonlyMap<string, string>;

/** Variables that make a server take no writes when they are on. Each product has some of them. */
export const READ_ONLY_VARS = 'read_only super_read_only innodb_read_only offline_mode tidb_super_read_only'.split(' ');

/** What SHOW tells of names and values. */
export async function show(connection: MysqlConnection, what: string): Promise<Variables> {
  const rows = await queryRows(connection, `SHOW ${what}`);
  return new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Value]));
}

/** Whether a server with these variables takes no writes. */
export function isReadOnly(variables: Variables): boolean {
  return READ_ONLY_VARS.some((name) => isOn(variables.get(name)));
}

/** Whether a boolean variable is on; MariaDB 12 has further values for on. */
export function isOn(value: unknown): boolean {
  return value !== undefined && value !== null && !/^(?:0|off)?$/i.test(String(value));
}

/** One setting in a SET: name and literal. */
const SETTING = /(\w+) = ('[^']*'|\d+)/g;
/** Settings that reads and writes need to be correct. A session without one of them is not used. */
const ESSENTIAL = /^(?:character_set|sql_mode|autocommit|sql_select_limit|innodb_lock|\w+_isolation)/;

/** A SET of everything that changes what a statement does or how long it waits. Server defaults and `init_connect` do not count. */
function settingsSql({ lockMs, statementMs, idleMs }: PoolLimits): string {
  const level = "'REPEATABLE-READ'";
  const everywhere = [
    "character_set_client = 'utf8mb4', character_set_connection = 'utf8mb4', character_set_results = 'utf8mb4'",
    "collation_connection = 'utf8mb4_bin'", // after the character set, which changes it
    // Strict: no value is truncated. Without NO_BACKSLASH_ESCAPES and ANSI_QUOTES, under which mysql2's escaping would be wrong.
    "sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
    // Changing from 0 to 1 commits a transaction that, for example, an `init_connect` has left open,
    // https://dev.mysql.com/doc/refman/9.7/en/implicit-commit.html
    "autocommit = 0, autocommit = 1, completion_type = 'NO_CHAIN', time_zone = '+00:00'",
    "default_storage_engine = 'InnoDB'", // for tables of which no engine is named
    `sql_select_limit = ${2 ** 32 - 1}, sql_big_selects = 1, sql_safe_updates = 0, unique_checks = 1`, // no result is cut
    `innodb_lock_wait_timeout = ${lockMs / 1000}, lock_wait_timeout = ${lockMs / 1000}`, // row locks, metadata locks
    `wait_timeout = ${idleMs / 1000}, net_read_timeout = 30, net_write_timeout = 30`,
  ];
  const mariadb = [
    `tx_isolation = ${level}, tx_read_only = 0, max_statement_time = ${statementMs / 1000}`,
    `idle_transaction_timeout = ${statementMs / 1000}`, // the client of such a transaction is gone
    // A read waits until its member has all writes that any member acknowledged before,
    // https://mariadb.com/kb/en/galera-cluster-system-variables/#wsrep_sync_wait
    'wsrep_sync_wait = 1',
  ];
  const mysql8 = `transaction_isolation = ${level}, transaction_read_only = 0, max_execution_time = ${statementMs}`;
  // MariaDB executes /*M! comments and skips those for MySQL 5.7 and later, https://mariadb.com/kb/en/comment-syntax/
  return `${everywhere.join(', ')} /*M!100300 , ${mariadb.join(', ')} */ /*!80003 , ${mysql8} */`;
}

/** The settings that the server knows but the session does not have: literals by name. */
export function missingSettings(variables: Variables, limits: PoolLimits): ReadonlyMap<string, string> {
  const settings = new Map<string, string>();
  for (const [, name = '', literal = ''] of settingsSql(limits).matchAll(SETTING)) settings.set(name, literal);
  // Some accounts may write to a read-only server, but a failover would lose those writes.
  if (isReadOnly(variables)) for (const name of ['tx_read_only', 'transaction_read_only']) settings.set(name, '1');
  // A new primary answers only when it has all writes of the old one; a stronger level stays,
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

/** Applies all settings; gives the variables, those of `alsoRead` too, and since when they are known. Rejects with POOL_SETTING_REFUSED without an essential one. */
export async function setUp(connection: MysqlConnection, limits: PoolLimits, alsoRead: readonly string[]) {
  const sql = settingsSql(limits);
  const set = sql.matchAll(SETTING).map(([, name]) => name);
  const names = [...READ_ONLY_VARS, ...alsoRead, 'group_replication_consistency', ...set];
  // SHOW skips unknown variables; SELECT would fail.
  const read = () => show(connection, `SESSION VARIABLES WHERE Variable_name IN ('${names.join("', '")}')`);
  await trySet(connection, [sql]);
  const askedAt = performance.now();
  const variables = await read();
  const missing = [...missingSettings(variables, limits)].map((setting) => setting.join(' = '));
  if (missing.length === 0) return { variables, askedAt };
  // When the server refuses all at once, each is set alone.
  if (!(await trySet(connection, missing))) for (const setting of missing) await trySet(connection, [setting]);
  const now = await read();
  const refused = [...missingSettings(now, limits).keys()].filter((name) => ESSENTIAL.test(name));
  if (refused.length === 0) return { variables: now, askedAt };
  const told = refused.map((name) => `${name} is ${now.get(name)}`).join(', ');
  throw new MysqlPoolError('POOL_SETTING_REFUSED', `the server does not let the session be set up: ${told}`);
}

/** False when the server refuses one of these settings. Rejects with any other error. */
function trySet(connection: MysqlConnection, settings: readonly string[]): Promise<boolean> {
  return queryRows(connection, `SET SESSION ${settings.join(', ')}`).then(
    () => true,
    (error: unknown) => ((partsOf(error).errno ?? 0) > 0 ? false : Promise.reject(error)),
  );
}

/** What a session and its server have: the settings that were not taken, and how many statements are prepared. */
export async function examine(connection: MysqlConnection, limits: PoolLimits) {
  const variables = await show(connection, 'SESSION VARIABLES');
  const status = await show(connection, "GLOBAL STATUS LIKE 'Prepared_stmt_count'");
  return {
    refused: Array.from(missingSettings(variables, limits), ([name, literal]) => ({
      name,
      literal,
      value: variables.get(name),
    })),
    prepared: {
      count: status.get('Prepared_stmt_count'),
      max: variables.get('max_prepared_stmt_count'),
      ofConnection: PREPARED_MAX,
    },
  };
}
