import { deadlineIn } from '../../../lib/deadline/deadline.ts';
import { CONNECT_MS } from '../../deadlines.ts';
import { errorNumber, poolError } from '../faults.ts';
import { createConnection, type MysqlConnection, type MysqlTarget, namePlugin, queryRows } from './mysql-connection.ts';
import { idRuleOf } from './mysql-prepared.ts';
import type { MysqlAddress } from './mysql-url.ts';

/** Limits that the server enforces, in ms. */
export interface SessionLimits {
  /** Wait for a lock of a row or a table; whole seconds. */
  readonly lockMs: number;
  /** `lockMs` of a session with a distant server. */
  readonly distantLockMs: number;
  /** Time of a statement; 0 for no limit. MySQL enforces it for SELECT only. */
  readonly statementMs: number;
  /** Idle time of a session, which is then ended and its transaction rolled back; whole seconds. */
  readonly idleMs: number;
}

/** Whether a server takes writes. */
export type Role = 'writable' | 'read-only' | 'not ready';

/** An open connection and facts of its server. */
export type MysqlSession = Awaited<ReturnType<typeof beginSession>>;

type Variables = ReadonlyMap<string, string>;

const IDENTITY_VARS = ['server_uuid', 'server_id', 'hostname', 'port', 'datadir'];
const VERSION_VARS = ['version', 'version_comment', 'wsrep_on', 'group_replication_consistency'];
const SIZE_VARS = ['auto_increment_increment', 'max_allowed_packet'];
/** Variables that make a server take no writes when they are on. Each product has some of them. */
const READ_ONLY_VARS = ['read_only', 'super_read_only', 'innodb_read_only', 'offline_mode', 'tidb_super_read_only'];

/** Connects, sets up the session and reads the server's role, within CONNECT_MS. All its errors are marked `fatal`. */
export async function openSession(
  address: MysqlAddress,
  target: MysqlTarget,
  limits: SessionLimits,
): Promise<MysqlSession> {
  const connection = createConnection(address, target);
  try {
    return await connection.exchange(deadlineIn(CONNECT_MS), () => beginSession(connection, limits));
  } catch (error) {
    connection.destroy(poolError('POOL_NOT_UNDERSTOOD', 'the session could not be set up'));
    throw Object.assign(namePlugin(error as Error), { fatal: true }); // as mysql2 marks fatal ones; here all are, such as a locked account
  }
}

async function beginSession(connection: MysqlConnection, limits: SessionLimits) {
  const { driver } = connection;
  await new Promise<void>((resolve, reject) => driver.connect((error) => (error ? reject(error) : resolve())));
  const { variables, askedAt: checkedAt } = await setUp(connection, limits);
  const isGalera = variables.get('wsrep_on') === 'ON';
  const members = isGalera ? await readMembers(connection) : undefined;
  const refusing = READ_ONLY_VARS.filter((name) => variables.has(name)).map((name) => `@@global.${name} AS ${name}`);
  const roleSql = `SELECT ${['1', ...refusing].join(', ')}`;
  const role: Role = members === '' ? 'not ready' : isReadOnly(variables) ? 'read-only' : 'writable';
  const isUnchanged = async () => {
    await queryRows(connection, roleSql); // `wsrep_sync_wait`: answered when the node has caught up with its cluster
    return (await readMembers(connection)) === members;
  };
  // The servers of such a cluster are interchangeable, and a proxy may lead to any of them.
  const isOneOfEquals = isGalera || /tidb|vitess/i.test(variables.get('version') ?? '');
  return {
    connection,
    role,
    /** The time of the last role check, in ms of `performance.now()`. */
    checkedAt,
    /** Identifies the server; undefined in a cluster whose members all have every acknowledged write. */
    identity: isOneOfEquals ? undefined : IDENTITY_VARS.map((name) => variables.get(name)).join(' '),
    /** The longest wait for a lock, in ms; the server ends it. */
    lockMs: limits.lockMs,
    /** The size limit of a statement, in bytes. */
    packetBytes: Number(variables.get('max_allowed_packet')),
    idRule: idRuleOf(variables),
    /** Whether a server that took writes still does; rejects when it does not answer within `limitMs`. */
    stillTakesWrites: (limitMs: number) =>
      connection.exchange(deadlineIn(limitMs), async () => {
        const [row] = await queryRows(connection, roleSql);
        return row !== undefined && !READ_ONLY_VARS.some((name) => isOn(row[name]));
      }),
    /**
     * On a Galera node only: whether a transaction that it reports as rolled back is certainly undone. While members join or leave,
     * other members may have committed it.
     */
    isSurelyUndone: isGalera
      ? (limitMs: number) => connection.exchange(deadlineIn(limitMs), isUnchanged).catch(() => false)
      : undefined,
  };
}

/** Identifies the membership that a Galera node sees; empty when it has lost its cluster and refuses all but SET and SHOW. */
async function readMembers(connection: MysqlConnection): Promise<string> {
  const names = "'wsrep_ready', 'wsrep_cluster_state_uuid', 'wsrep_cluster_conf_id'";
  const status = await show(connection, `GLOBAL STATUS WHERE Variable_name IN (${names})`);
  return status.get('wsrep_ready') === 'ON' ? [...status.values()].join(' ') : '';
}

async function show(connection: MysqlConnection, what: string): Promise<Variables> {
  const rows = await queryRows(connection, `SHOW ${what}`);
  return new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Value]));
}

function isReadOnly(variables: Variables): boolean {
  return READ_ONLY_VARS.some((name) => isOn(variables.get(name)));
}

/** Whether a boolean variable is on; MariaDB 12 has further values for on. */
function isOn(value: unknown): boolean {
  return value !== undefined && value !== null && !/^(?:0|off)?$/i.test(String(value));
}

/** One setting in a SET: name and literal. */
const SETTING = /(\w+) = ('[^']*'|\d+)/g;
/** Settings that reads and writes need to be correct. A session without one of them is not used. */
const ESSENTIAL = /^(?:character_set|collation|sql_mode|autocommit|sql_select_limit|innodb_lock|\w+_isolation)/;

/** A SET of everything that changes what a statement does or how long it waits. Server defaults and `init_connect` do not count. */
function settingsSql({ lockMs, statementMs, idleMs }: SessionLimits): string {
  const level = "'REPEATABLE-READ'";
  const everywhere = [
    "character_set_client = 'utf8mb4', character_set_connection = 'utf8mb4', character_set_results = 'utf8mb4'",
    "collation_connection = 'utf8mb4_bin'", // after the character set, which changes it
    // Strict: no value is truncated. Without NO_BACKSLASH_ESCAPES and ANSI_QUOTES, under which mysql2's escaping would be wrong.
    "sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
    // Changing from 0 to 1 commits a transaction that, for example, an `init_connect` has left open,
    // https://dev.mysql.com/doc/refman/9.7/en/implicit-commit.html
    "autocommit = 0, autocommit = 1, completion_type = 'NO_CHAIN', time_zone = '+00:00'",
    "default_storage_engine = 'InnoDB'", // Knex names no engine for its own tables
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
export function missingSettings(variables: Variables, limits: SessionLimits): ReadonlyMap<string, string> {
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

/** Applies all settings; gives the variables, and since when they are known. Rejects with POOL_SETTING_REFUSED without an essential one. */
async function setUp(connection: MysqlConnection, limits: SessionLimits) {
  const sql = settingsSql(limits);
  const names = [
    ...READ_ONLY_VARS,
    ...IDENTITY_VARS,
    ...VERSION_VARS,
    ...SIZE_VARS,
    ...sql.matchAll(SETTING).map(([, name]) => name),
  ];
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
  throw poolError('POOL_SETTING_REFUSED', `the server does not let the session be set up: ${told}`);
}

/** False when the server refuses one of these settings. Rejects with any other error. */
function trySet(connection: MysqlConnection, settings: readonly string[]): Promise<boolean> {
  return queryRows(connection, `SET SESSION ${settings.join(', ')}`).then(
    () => true,
    (error: unknown) => (errorNumber(error) > 0 ? false : Promise.reject(error)),
  );
}
