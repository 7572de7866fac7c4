import { deadlineIn } from '../deadline/deadline.ts';
import { idRuleOf } from './added-rows.ts';
import type { MysqlAddress } from './mysql-address.ts';
import { createConnection, type MysqlConnection, type MysqlTarget, namePlugin, queryRows } from './mysql-connection.ts';
import { asFatal, MysqlPoolError } from './pool-error.ts';
import type { RoundTrip } from './round-trip.ts';
import { isOn, isReadOnly, type PoolLimits, type PoolTimes, READ_ONLY_VARS, setUp, show } from './session-settings.ts';

/** What the sessions of a pool have in common. */
export interface SessionOptions {
  readonly address: MysqlAddress;
  readonly limits: PoolLimits;
  readonly times: PoolTimes;
}

/** Whether a server takes writes. */
export type Role = 'writable' | 'read-only' | 'not ready';

/** An open connection and facts of its server. */
export type MysqlSession = Awaited<ReturnType<typeof beginSession>>;

const IDENTITY_VARS = ['server_uuid', 'server_id', 'hostname', 'port', 'datadir'];
const SERVER_VARS =
  'version version_comment wsrep_on wsrep_reject_queries auto_increment_increment max_allowed_packet'.split(' ');

/**
 * Connects, sets up the session and reads the server's role, within `connectMs`. The login is measured. All its errors are marked
 * `fatal`.
 */
export async function openSession(
  { address, limits, times }: SessionOptions,
  target: MysqlTarget,
  roundTrip: RoundTrip,
): Promise<MysqlSession> {
  const connection = createConnection(address, target, times.connectionEndMs);
  try {
    return await connection.exchange(deadlineIn(times.connectMs), async () => {
      await roundTrip.measure(() => logIn(connection));
      const lockMs = roundTrip.ms() > times.distantMs ? limits.distantLockMs : limits.lockMs;
      return beginSession(connection, { ...limits, lockMs });
    });
  } catch (error) {
    connection.destroy(new MysqlPoolError('POOL_NOT_UNDERSTOOD', 'the session could not be set up'));
    throw asFatal(namePlugin(error as Error)); // mysql2 throws Errors, and here none leaves a usable connection
  }
}

function logIn({ driver }: MysqlConnection): Promise<void> {
  return new Promise((resolve, reject) => driver.connect((error) => (error ? reject(error) : resolve())));
}

async function beginSession(connection: MysqlConnection, limits: PoolLimits) {
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
