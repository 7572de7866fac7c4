import type { Connection } from 'mysql2';
import { deadlineIn } from '../../deadline.ts';
import { errorNumber } from '../faults.ts';
import { poolError } from '../pool-error.ts';
import { ask, createConnection, destroyConnection, exchange, type MysqlTarget } from './mysql-connection.ts';
import type { MysqlAddress } from './mysql-url.ts';

/** What a session must know of the limits of its work. */
export interface SessionLimits {
  /** For the whole way to a session that is ready, in ms. */
  readonly connectMs: number;
  /** For a lock of a row or a table, in ms; whole seconds. */
  readonly lockMs: number;
  /** After which the server itself ends a statement, in ms; 0 for never. MySQL does so for SELECT only. */
  readonly statementMs: number;
}

/** Whether a server takes writes. */
export type Role = 'writable' | 'read-only' | 'not ready';

/** An open connection, and what is known of the server that it leads to. */
export interface MysqlSession {
  readonly connection: Connection;
  readonly role: Role;
  /** When the server was asked for its role, in ms of `performance.now()`. */
  readonly askedAt: number;
  /** Tells this server from others; undefined where any other is as good: each member has what was acknowledged. */
  readonly identity: string | undefined;
  /** The statement that tells whether it still takes writes. */
  readonly roleSql: string;
  /** Of a Galera node: which members its cluster had. */
  readonly members: string | undefined;
}

// Without NO_BACKSLASH_ESCAPES and ANSI_QUOTES, which would change how mysql2 must escape; strict, so that nothing is
// stored cut off or rounded.
const SQL_MODE = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION';

/** Each of them on means: this server takes no writes. A server has only some of them. */
const REFUSING = ['read_only', 'super_read_only', 'innodb_read_only', 'offline_mode', 'tidb_super_read_only'];
const NAMING = ['server_uuid', 'server_id', 'hostname', 'port', 'datadir'];
const ASKED = [...REFUSING, ...NAMING, 'wsrep_on', 'version', 'group_replication_consistency'];

const ER_UNKNOWN_SYSTEM_VARIABLE = 1193;
const ER_SPECIFIC_ACCESS_DENIED_ERROR = 1227;

/** Connects, sets up the session and asks the server for its role. */
export async function openSession(
  address: MysqlAddress,
  target: MysqlTarget,
  limits: SessionLimits,
): Promise<MysqlSession> {
  const connection = createConnection(address, target);
  try {
    return await exchange(connection, deadlineIn(limits.connectMs), () => beginSession(connection, limits));
  } catch (error) {
    destroyConnection(connection, poolError('POOL_NOT_UNDERSTOOD', 'the session could not be set up'));
    // As mysql2 marks its own of these: whatever a server says to who comes in, such as that the account is locked.
    throw error instanceof Error ? Object.assign(error, { fatal: true }) : error;
  }
}

async function beginSession(connection: Connection, limits: SessionLimits): Promise<MysqlSession> {
  await new Promise<void>((resolve, reject) => connection.connect((error) => (error ? reject(error) : resolve())));
  const askedAt = performance.now();
  const variables = await readVariables(connection);
  const isGalera = variables.get('wsrep_on') === 'ON';
  const refusing = REFUSING.filter((name) => variables.has(name));
  const isReadOnly = refusing.some((name) => isOn(variables.get(name)));
  await setUp(connection, limits, variables, isReadOnly);
  const members = isGalera ? await readMembers(connection) : undefined;
  // Of a proxy to many equal servers, such as TiDB's or Vitess's, any is as good as the other.
  const isOneOfEquals = isGalera || /tidb|vitess/i.test(variables.get('version') ?? '');
  return {
    connection,
    role: members !== '' ? (isReadOnly ? 'read-only' : 'writable') : 'not ready',
    askedAt,
    identity: isOneOfEquals ? undefined : NAMING.map((name) => variables.get(name)).join(' '),
    roleSql: `SELECT ${['1', ...refusing.map((name) => `@@global.${name} AS ${name}`)].join(', ')}`,
    members,
  };
}

/**
 * Whether what a Galera node has rolled back is certainly not done: while members come or go, a deadlock may be told of what
 * the others have. The first statement waits until the node has all that its cluster has.
 */
export function hasSameMembers({ connection, roleSql, members }: MysqlSession, limitMs: number): Promise<boolean> {
  return exchange(connection, deadlineIn(limitMs), async () => {
    await ask(connection, roleSql);
    return (await readMembers(connection)) === members;
  });
}

/** Whether a server that took writes still does; rejects when it does not answer within `limitMs`. */
export function stillTakesWrites({ connection, roleSql }: MysqlSession, limitMs: number): Promise<boolean> {
  return exchange(connection, deadlineIn(limitMs), async () => {
    const [row] = await ask(connection, roleSql);
    return row !== undefined && !REFUSING.some((name) => isOn(row[name]));
  });
}

/** SHOW gives those that exist; SELECT would fail at the first that does not. */
async function readVariables(connection: Connection): Promise<Map<string, string>> {
  const names = ASKED.map((name) => `'${name}'`).join(', ');
  const rows = await ask(connection, `SHOW GLOBAL VARIABLES WHERE Variable_name IN (${names})`);
  return new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Value]));
}

function isOn(value: unknown): boolean {
  // MariaDB 12 has more words for on.
  return value !== undefined && value !== null && !/^(?:0|off)?$/i.test(String(value));
}

/** Nothing is left to the server's defaults: all that could change what a statement does or how long it waits. */
async function setUp(
  connection: Connection,
  { lockMs, statementMs }: SessionLimits,
  variables: ReadonlyMap<string, string>,
  isReadOnly: boolean,
): Promise<void> {
  const essential = `sql_mode = '${SQL_MODE}', autocommit = 1, innodb_lock_wait_timeout = ${lockMs / 1000}`;
  // An account that may write to a read-only server must not: its writes would be lost.
  const [level, readOnly] = ["'REPEATABLE-READ'", Number(isReadOnly)];
  // MariaDB reads /*M! and leaves out what MySQL 5.7 and later read, https://mariadb.com/kb/en/comment-syntax/
  const mariadb = `/*M!100300 , max_statement_time = ${statementMs / 1000}, tx_isolation = ${level}, tx_read_only = ${readOnly} */`;
  const mysql8 = `/*!80003 , max_execution_time = ${statementMs}, transaction_isolation = ${level}, transaction_read_only = ${readOnly} */`;
  const others = [
    "completion_type = 'NO_CHAIN'",
    `lock_wait_timeout = ${lockMs / 1000}`, // metadata locks
    // A read waits until its member has what was acknowledged before, whichever member wrote it,
    // https://mariadb.com/kb/en/galera-cluster-system-variables/#wsrep_sync_wait
    ...(variables.get('wsrep_on') === 'ON' ? ['wsrep_sync_wait = 1'] : []),
    // A new primary answers once it has all of the old one's writes,
    // https://dev.mysql.com/doc/refman/9.7/en/group-replication-configuring-consistency-guarantees.html
    ...(variables.get('group_replication_consistency') === 'EVENTUAL'
      ? ["group_replication_consistency = 'BEFORE_ON_PRIMARY_FAILOVER'"]
      : []),
  ];
  try {
    await ask(connection, `SET SESSION ${[essential, ...others].join(', ')} ${mariadb} ${mysql8}`);
  } catch (error) {
    if (![ER_UNKNOWN_SYSTEM_VARIABLE, ER_SPECIFIC_ACCESS_DENIED_ERROR].includes(errorNumber(error) ?? 0)) throw error;
    await ask(connection, `SET SESSION ${essential}`); // an engine that speaks the protocol, and lacks some of these
  }
}

/** A name of the members that a Galera node sees; empty for one that is cut off: it lets everyone in, and refuses all but SET and SHOW. */
async function readMembers(connection: Connection): Promise<string> {
  const names = "'wsrep_ready', 'wsrep_cluster_state_uuid', 'wsrep_cluster_conf_id'";
  const rows = await ask(connection, `SHOW GLOBAL STATUS WHERE Variable_name IN (${names})`);
  const status = new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Value]));
  return status.get('wsrep_ready') === 'ON' ? [...status.values()].join(' ') : '';
}
