import { connect, type Socket } from 'node:net';
import mysql, { type Connection, type RowDataPacket } from 'mysql2';
import { type Deadline, remainingMs, watchDeadlines } from '../../deadline.ts';
import { CONNECTION_END_MS } from '../../deadlines.ts';
import { poolError } from '../faults.ts';
import type { MysqlAddress } from './mysql-url.ts';

/** One IP address of one host. */
export interface MysqlTarget {
  /** The name in DATABASE_URL, for the check of certificates. */
  readonly host: string;
  readonly address: string;
  readonly port: number;
}

/** Prepared statements of one connection; the server's limit max_prepared_stmt_count, 16,382 by default, is for all clients. */
export const PREPARED_MAX = 100;

/** Creates a connection, which is not open yet. Throws POOL_TRUST when a file that DATABASE_URL names cannot be used. */
export function createConnection(address: MysqlAddress, { host, address: ip, port }: MysqlTarget): Connection {
  const { user, password, database, readTrust } = address;
  const connection = mysql.createConnection({
    host,
    port,
    stream: () => connect({ host: ip, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 10_000 }),
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
  });
  const pending: Exchange[] = [];
  const watch = watchDeadlines(() => {
    if (pending.some(({ deadline }) => remainingMs(deadline) === 0))
      destroyConnection(connection, poolError('POOL_TIMEOUT', `no answer in time from ${ip}:${port}`));
    return pending.length > 0;
  });
  states.set(connection, { pending, watch });
  // mysql2 emits errors that no command gets: an idle connection breaks, or mysql2 cannot parse a packet. In that case the
  // command's callback is never called.
  connection.on('error', (error) => destroyConnection(connection, error));
  // Without a command, mysql2 throws parse errors into the process.
  const own = connection as unknown as { handlePacket(packet: unknown): void }; // mysql2 publishes no type for it
  const handlePacket = own.handlePacket.bind(connection);
  own.handlePacket = (packet) => {
    try {
      handlePacket(packet);
    } catch (error) {
      destroyConnection(connection, Object.assign(error as Error, { fatal: true })); // as mysql2 marks its own
    }
  };
  // After packets out of order, an answer could be taken for that of another command; MySQL's own client disconnects, too.
  // https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_packets.html#sect_protocol_basic_packets_sequence_id
  connection.on('warn', () =>
    destroyConnection(connection, poolError('POOL_NOT_UNDERSTOOD', "the server's packets came out of order")),
  );
  return connection;
}

/** A command without an answer yet. */
interface Exchange {
  readonly deadline: Deadline;
  readonly reject: (reason: Error) => void;
}

interface ConnectionState {
  /** An array, because it has few elements: a Set would take twice the time. */
  readonly pending: Exchange[];
  /** Begins to watch the deadlines of pending commands. */
  readonly watch: () => void;
  /** Why the connection has failed. */
  failure?: Error;
}

const states = new WeakMap<Connection, ConnectionState>();

/**
 * What `work` gives, which uses the connection; all uses of a connection must go through here. Rejects at the deadline, which ends
 * the connection, and when the connection fails, even if mysql2 never calls back.
 */
export async function exchange<Answer>(
  connection: Connection,
  deadline: Deadline,
  work: () => PromiseLike<Answer>,
): Promise<Answer> {
  const state = states.get(connection) as ConnectionState; // createConnection gives each one
  if (state.failure) throw state.failure;
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const own: Exchange = { deadline, reject };
  state.pending.push(own);
  state.watch();
  try {
    work().then(resolve, reject);
    return await promise;
  } finally {
    state.pending.splice(state.pending.indexOf(own), 1);
  }
}

/** The rows of a statement. */
export function ask(connection: Connection, sql: string): Promise<RowDataPacket[]> {
  return new Promise((resolve, reject) => {
    connection.query<RowDataPacket[]>(sql, (error, rows) => (error ? reject(error) : resolve(rows)));
  });
}

/** Ends a connection at once; its pending commands fail with `reason`. */
export function destroyConnection(connection: Connection, reason: Error): void {
  const state = states.get(connection);
  if (state && !state.failure) {
    state.failure = reason;
    for (const { reject } of state.pending) reject(reason);
  }
  streamOf(connection).destroy(reason);
}

/** Ends an idle connection by COM_QUIT, and the socket after CONNECTION_END_MS. */
export function endConnection(connection: Connection): void {
  connection.end(() => {});
  setTimeout(() => streamOf(connection).destroy(), CONNECTION_END_MS).unref();
}

/** Whether a connection has not failed so far. */
export function isConnectionOpen(connection: Connection): boolean {
  return states.get(connection)?.failure === undefined && streamOf(connection).writable;
}

/** mysql2 has the type of `stream` for its pools only. */
function streamOf(connection: Connection): Socket {
  return (connection as unknown as { readonly stream: Socket }).stream; // a net.Socket or its TLSSocket
}
