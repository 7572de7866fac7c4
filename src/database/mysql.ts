import type { Knex } from 'knex';
// Knex publishes its dialects by path.
import Mysql2Client from 'knex/lib/dialects/mysql2/index.js';
import mysql, { type Connection, type QueryOptions, type RowDataPacket } from 'mysql2';
import { executePrepared, insertRows } from './mysql-prepared.ts';
import { type MysqlAddress, type MysqlHost, parseMysqlUrl } from './mysql-url.ts';
import type { Binding } from './prepared.ts';

/** How long each kind of wait may take, in ms. */
export interface WaitLimits {
  readonly connectMs: number;
  readonly acquireMs: number;
  readonly queryMs: number;
  readonly lockMs: number;
}

/** A request gets its answer or its 503 within five seconds. */
export const REQUEST_LIMITS: WaitLimits = { connectMs: 2000, acquireMs: 2500, queryMs: 2300, lockMs: 2000 };

/** For work that nobody waits for in a request: an hour. */
export const UNHURRIED_LIMITS: WaitLimits = {
  connectMs: 10_000,
  acquireMs: 10_000,
  queryMs: 3_600_000,
  lockMs: 60_000,
};

/** How long a host that did not answer is passed over while others do, in ms. */
const DEAD_HOST_REST_MS = 5000;

/** Kept by a connection: our texts are about 35, and a server keeps max_prepared_stmt_count (16,382) for all its clients. */
const PREPARED_MAX = 100;

// Nothing is left to the server's defaults. Without NO_BACKSLASH_ESCAPES and ANSI_QUOTES, which would
// change how mysql2 must escape; strict, so that nothing is stored cut off or rounded.
const SQL_MODE = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION';

/** Galera's "WSREP has not yet prepared node for application use": the member is cut off from its cluster. */
const ER_UNKNOWN_COM_ERROR = 1047;

/** Knex settings for a `mysql://` address. Throws ConfigError when the address is wrong. */
export function createMysqlClient(databaseUrl: string, poolMax: number, limits: WaitLimits): Knex.Config {
  const address = parseMysqlUrl(databaseUrl);
  const pickHost = createHostPicker(address.hosts);

  /** Knex on mysql2, with our session and several hosts. */
  class GatewayMysqlClient extends Mysql2Client {
    override async acquireRawConnection(): Promise<Connection> {
      const connection = await pickHost((host) => openConnection(address, host, limits));
      await this.checkVersion(connection);
      return connection;
    }

    override async _query(connection: Connection, query: { sql: string; options?: QueryOptions }): Promise<unknown> {
      const options = { timeout: limits.queryMs, ...query.options };
      return super._query(connection, Object.assign(query, { options })).catch(discardUnsure(connection, query.sql));
    }

    /** The rows of a prepared statement, kept by the connection for the next time. */
    queryPrepared(sql: string, bindings: readonly Binding[]): Promise<RowDataPacket[]> {
      return this.#onConnection(sql, (connection) =>
        executePrepared<RowDataPacket[]>(connection, sql, bindings, limits.queryMs),
      );
    }

    /** The ids that one prepared INSERT gives its rows, in their order. */
    insertPrepared(into: string, rows: readonly (readonly Binding[])[]): Promise<string[]> {
      return this.#onConnection(into, (connection) => insertRows(connection, into, rows, limits.queryMs));
    }

    async #onConnection<Result>(sql: string, work: (connection: Connection) => Promise<Result>): Promise<Result> {
      const connection: Connection = await this.acquireConnection();
      try {
        return await work(connection).catch(discardUnsure(connection, sql));
      } finally {
        this.releaseConnection(connection);
      }
    }
  }

  return {
    client: GatewayMysqlClient,
    connection: {},
    acquireConnectionTimeout: limits.acquireMs,
    // min 0: after a restart of the server no dead connection is kept for its own sake.
    pool: { min: 0, max: poolMax, acquireTimeoutMillis: limits.acquireMs, createRetryIntervalMillis: 100 },
  };
}

function errorNumber(error: unknown): number | undefined {
  return error instanceof Error && 'errno' in error && typeof error.errno === 'number' ? error.errno : undefined;
}

/** The `code` of an error of the network or of the server, such as `ECONNREFUSED` or `ER_DUP_ENTRY`. */
export function errorCode(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** Ends a connection after an error that leaves its state unsure: nobody else may get it from the pool. */
function discardUnsure(connection: Connection, sql: string): (error: unknown) => never {
  return (error) => {
    // The late answer may still come, and would be taken for the answer to the next query.
    const isLate = errorCode(error) === 'PROTOCOL_SEQUENCE_TIMEOUT';
    // A member that has lost its cluster refuses ROLLBACK, too, and keeps the transaction: the next one's write would
    // join it and be acknowledged without a COMMIT, and the next BEGIN would commit what was answered with 503.
    const isCutOff = errorNumber(error) === ER_UNKNOWN_COM_ERROR;
    const isStillOpen = /^(?:COMMIT|ROLLBACK)\b/i.test(sql);
    if (isLate || isCutOff || isStillOpen) connection.destroy();
    throw error;
  };
}

function openConnection(address: MysqlAddress, { host, port }: MysqlHost, limits: WaitLimits): Promise<Connection> {
  const { user, password, database, ssl } = address;
  const connection = mysql.createConnection({
    host,
    port,
    user,
    password,
    database,
    ...(ssl && { ssl }),
    connectTimeout: limits.connectMs,
    maxPreparedStatements: PREPARED_MAX,
    charset: 'utf8mb4',
    // BIGINT as a number where that is exact, else as decimal text; never rounded.
    supportBigNumbers: true,
    bigNumberStrings: false,
    timezone: 'Z',
  });
  const session = `SET SESSION sql_mode = '${SQL_MODE}', autocommit = 1, innodb_lock_wait_timeout = ${limits.lockMs / 1000}`;
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      connection.destroy();
      reject(error);
    };
    // A connection that breaks while idle emits this; the pool finds it broken at its next use.
    connection.on('error', () => {});
    connection.connect((refused) => {
      if (refused) return fail(refused);
      connection.query({ sql: session, timeout: limits.connectMs }, (wrong) =>
        wrong
          ? fail(wrong)
          : readOwnWrites(connection, address, limits.connectMs).then(() => resolve(connection), fail),
      );
    });
  });
}

/**
 * With several hosts, connections of one pool may lead to several members of a Galera cluster: a read then waits until
 * its member has all that was acknowledged before, https://mariadb.com/kb/en/galera-cluster-system-variables/#wsrep_sync_wait
 */
async function readOwnWrites(connection: Connection, { hosts }: MysqlAddress, timeout: number): Promise<void> {
  if (hosts.length === 1) return;
  const query = (sql: string) => connection.promise().query<RowDataPacket[]>({ sql, timeout });
  const [rows] = await query("SHOW VARIABLES LIKE 'wsrep_on'");
  if (rows[0]?.Value !== 'ON') return;
  await query('SET SESSION wsrep_sync_wait = 1');
  // A member that is cut off lets everyone in and takes SHOW and SET; this one it refuses, and another host is tried.
  await query('SELECT 1');
}

/** Tries the hosts in turn, the last good one first; one that failed rests while another answers. */
function createHostPicker(hosts: readonly MysqlHost[]) {
  const restsUntil = new Map<MysqlHost, number>();
  let preferred: MysqlHost | undefined;
  return async function pickHost<T>(open: (host: MysqlHost) => Promise<T>): Promise<T> {
    const rank = (host: MysqlHost) => Math.max(restsUntil.get(host) ?? 0, Date.now()) - (host === preferred ? 1 : 0);
    let failure: unknown;
    for (const host of hosts.toSorted((a, b) => rank(a) - rank(b))) {
      try {
        const opened = await open(host);
        restsUntil.delete(host);
        preferred = host;
        return opened;
      } catch (error) {
        failure ??= error;
        restsUntil.set(host, Date.now() + DEAD_HOST_REST_MS);
      }
    }
    throw failure;
  };
}
