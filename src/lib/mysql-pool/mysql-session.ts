import { deadlineIn } from '../deadline/deadline.ts';
import type { MysqlAddress } from './mysql-address.ts';
import { createConnection, type MysqlConnection, type MysqlTarget, namePlugin, queryRows } from './mysql-connection.ts';
import { asFatal, MysqlPoolError } from './pool-error.ts';
import { idRuleOf } from './prepared-statements.ts';
import { isOn, isReadOnly, READ_ONLY_VARS, type SessionLimits, setUp, show } from './session-settings.ts';

/** The times of a connection, in ms. */
export interface ConnectionTimes {
  /** From the first packet to a session that is ready. */
  readonly connectMs: number;
  /** The wait for a connection to end by itself after COM_QUIT. */
  readonly connectionEndMs: number;
}

/** Measures round trips to the server. */
export interface RoundTrip {
  /** The round trip in ms; 0 before the first measurement. */
  ms(): number;
  /** Runs `work`, one round trip or a few, and counts its time unless a shorter one is known. */
  measure<Result>(work: () => PromiseLike<Result>): Promise<Result>;
}

/** Whether a server takes writes. */
export type Role = 'writable' | 'read-only' | 'not ready';

/** An open connection and facts of its server. */
export type MysqlSession = Awaited<ReturnType<typeof beginSession>>;

const IDENTITY_VARS = ['server_uuid', 'server_id', 'hostname', 'port', 'datadir'];
const SERVER_VARS = [
  'version',
  'version_comment',
  'wsrep_on',
  'wsrep_reject_queries',
  'auto_increment_increment',
  'max_allowed_packet',
];

/**
 * Connects, sets up the session and reads the server's role, within `connectMs`. `limitsNow` is asked after the login, which is
 * measured: the limits may depend on the round trip. All its errors are marked `fatal`.
 */
export async function openSession(
  address: MysqlAddress,
  target: MysqlTarget,
  limitsNow: () => SessionLimits,
  { connectMs, connectionEndMs }: ConnectionTimes,
  roundTrip?: RoundTrip,
): Promise<MysqlSession> {
  const connection = createConnection(address, target, connectionEndMs);
  const login = () => logIn(connection);
  try {
    return await connection.exchange(deadlineIn(connectMs), async () => {
      await (roundTrip ? roundTrip.measure(login) : login());
      return beginSession(connection, limitsNow());
    });
  } catch (error) {
    connection.destroy(new MysqlPoolError('POOL_NOT_UNDERSTOOD', 'the session could not be set up'));
    throw asFatal(namePlugin(error as Error)); // mysql2 throws Errors, and here none leaves a usable connection
  }
}

function logIn({ driver }: MysqlConnection): Promise<void> {
  return new Promise((resolve, reject) => driver.connect((error) => (error ? reject(error) : resolve())));
}

async function beginSession(connection: MysqlConnection, limits: SessionLimits) {
  const { variables, askedAt: checkedAt } = await setUp(connection, limits, [...IDENTITY_VARS, ...SERVER_VARS]);
  const isGalera = variables.get('wsrep_on') === 'ON';
  const members = isGalera ? await readMembers(connection) : undefined;
  const refusing = READ_ONLY_VARS.filter((name) => variables.has(name)).map((name) => `@@global.${name} AS ${name}`);
  const roleSql = `SELECT ${['1', ...refusing].join(', ')}`;
  // A member that was told to refuse queries says that it is ready, and answers all that is read from no table,
  // https://mariadb.com/kb/en/galera-cluster-system-variables/#wsrep_reject_queries
  const isRefusing = (variables.get('wsrep_reject_queries') ?? 'NONE') !== 'NONE';
  const role: Role = members === '' || isRefusing ? 'not ready' : isReadOnly(variables) ? 'read-only' : 'writable';
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
