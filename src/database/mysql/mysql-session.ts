import type { Connection } from 'mysql2';
import { deadlineIn } from '../../deadline.ts';
import { poolError } from '../pool-error.ts';
import { ask, createConnection, destroyConnection, exchange, type MysqlTarget } from './mysql-connection.ts';
import { noteIdRule } from './mysql-prepared.ts';
import type { MysqlAddress } from './mysql-url.ts';
import { isOn, isReadOnly, REFUSING, type SessionLimits, setUp } from './session-settings.ts';

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

const NAMING = ['server_uuid', 'server_id', 'hostname', 'port', 'datadir'];
const KINDS = ['version', 'version_comment', 'wsrep_on', 'group_replication_consistency', 'auto_increment_increment'];
const ASKED = [...NAMING, ...KINDS];

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
  const variables = await setUp(connection, limits, ASKED);
  noteIdRule(connection, variables);
  const isGalera = variables.get('wsrep_on') === 'ON';
  const refusing = REFUSING.filter((name) => variables.has(name));
  const members = isGalera ? await readMembers(connection) : undefined;
  // Of a proxy to many equal servers, such as TiDB's or Vitess's, any is as good as the other.
  const isOneOfEquals = isGalera || /tidb|vitess/i.test(variables.get('version') ?? '');
  return {
    connection,
    role: members === '' ? 'not ready' : isReadOnly(variables) ? 'read-only' : 'writable',
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

/** A name of the members that a Galera node sees; empty for one that is cut off: it lets everyone in, and refuses all but SET and SHOW. */
async function readMembers(connection: Connection): Promise<string> {
  const names = "'wsrep_ready', 'wsrep_cluster_state_uuid', 'wsrep_cluster_conf_id'";
  const rows = await ask(connection, `SHOW GLOBAL STATUS WHERE Variable_name IN (${names})`);
  const status = new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Value]));
  return status.get('wsrep_ready') === 'ON' ? [...status.values()].join(' ') : '';
}
