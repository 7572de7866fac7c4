import { connect, type Socket } from 'node:net';
import mysql, { type Connection, type RowDataPacket } from 'mysql2';
import { type Deadline, remainingMs, watchDeadlines } from '../deadline/deadline.ts';
import type { MysqlAddress, MysqlHost } from './mysql-address.ts';
import { asFatal, MysqlPoolError } from './pool-error.ts';

/** One IP address of a host. The host's name is for the check of certificates. */
export interface MysqlTarget extends MysqlHost {
  readonly address: string;
}

/** The largest number of prepared statements of a connection. The server's max_prepared_stmt_count (16,382) is for all clients. */
export const PREPARED_MAX = 200;

/** A connection of mysql2 on which every command settles by its deadline. */
export type MysqlConnection = ReturnType<typeof createConnection>;

/**
 * Creates a connection, which is not open yet; `end` gives it `endMs` to end by itself. Throws POOL_TRUST when a file that the
 * address names cannot be used.
 */
export function createConnection(address: MysqlAddress, target: MysqlTarget, endMs: number) {
  const driver = createDriver(address, target);
  /** The commands in flight. An array, because there are few: a Set would take twice the time. */
  const pending: { readonly deadline: Deadline; readonly reject: (reason: Error) => void }[] = [];
  let failure: Error | undefined;
  const destroy = (reason: Error): void => {
    failure ??= reason;
    for (const { reject } of pending) reject(failure);
    driver.stream.destroy(reason);
  };
  const watch = watchDeadlines(() => {
    if (pending.some(({ deadline }) => remainingMs(deadline) === 0))
      destroy(new MysqlPoolError('POOL_TIMEOUT', `no answer in time from ${target.address}:${target.port}`));
    return pending.length > 0;
  });
  endOnError(driver, destroy);
  return {
    driver,
    /** Whether it has not failed or ended. */
    isOpen: () => failure === undefined && driver.stream.writable,
    /**
     * Runs `work`, one command, and gives its result. Every command goes through here. Rejects at the deadline, which also ends the
     * connection, and when the connection fails, even if mysql2 never calls back.
     */
    async exchange<Answer>(deadline: Deadline, work: () => PromiseLike<Answer>): Promise<Answer> {
      if (failure) throw failure;
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      const own = { deadline, reject };
      pending.push(own);
      watch();
      try {
        work().then(resolve, reject);
        return await promise;
      } finally {
        pending.splice(pending.indexOf(own), 1);
      }
    },
    /** Closes the socket at once; the commands in flight fail with `reason`. */
    destroy,
    /** Sends COM_QUIT after the commands in flight; closes the socket after `endMs` in any case. */
    end(): void {
      driver.end(() => {});
      setTimeout(() => driver.stream.destroy(), endMs).unref();
    },
  };
}

/** The members of a mysql2 connection that its types lack. */
interface Driver extends Connection {
  /** A net.Socket, later its TLSSocket. */
  readonly stream: Socket;
  handlePacket(packet: unknown): void;
}

function createDriver(address: MysqlAddress, { host, address: ip, port }: MysqlTarget): Driver {
  const { user, password, database, readTrust } = address;
  return mysql.createConnection({
    host,
    port,
    stream: () => {
      const socket = connect({ host: ip, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 10_000 });
      // Where the host is an IP address, mysql2 does not name it, and Node would check the certificate for `localhost`.
      return Object.assign(socket, { _host: host });
    },
    user,
    password,
    database,
    ...readTrust(),
    flags: ['-LOCAL_FILES'], // no server may ask for a file
    maxPreparedStatements: PREPARED_MAX,
    charset: 'utf8mb4',
    // BIGINT as a number where that is exact, else as decimal text; never rounded.
    supportBigNumbers: true,
    bigNumberStrings: false,
    timezone: 'Z',
  }) as unknown as Driver; // it is one
}

/** Closes the connection on errors that mysql2 passes to no command. Otherwise a command would hang, or the process would end. */
function endOnError(driver: Driver, destroy: (reason: Error) => void): void {
  driver.on('error', destroy);
  const handlePacket = driver.handlePacket.bind(driver);
  driver.handlePacket = (packet) => {
    try {
      handlePacket(packet);
    } catch (error) {
      destroy(asFatal(error));
    }
  };
  // After packets out of order, an answer could be taken for that of another command; MySQL's own client disconnects, too.
  // https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_packets.html#sect_protocol_basic_packets_sequence_id
  driver.on('warn', () => destroy(new MysqlPoolError('POOL_NOT_UNDERSTOOD', "the server's packets came out of order")));
}

/** Names the plugin of an account that mysql2 cannot log in with; other errors stay as they are. */
export function namePlugin(error: Error): Error {
  const [, plugin] = /^Server request\w+ authentication using (?:unknown plugin )?(\w+)/.exec(error.message) ?? [];
  const works = 'caching_sha2_password, mysql_native_password and sha256_password work';
  return plugin === undefined ? error : new MysqlPoolError('POOL_PLUGIN', `its plugin is ${plugin}; ${works}`, error);
}

/** The rows of a statement. */
export function queryRows({ driver }: Pick<MysqlConnection, 'driver'>, sql: string): Promise<RowDataPacket[]> {
  return new Promise((resolve, reject) => {
    driver.query<RowDataPacket[]>(sql, (error, rows) => (error ? reject(error) : resolve(rows)));
  });
}
