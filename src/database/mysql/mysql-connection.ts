import { connect, type Socket } from 'node:net';
import mysql, { type Connection, type RowDataPacket } from 'mysql2';
import { CONNECTION_END_MS } from '../../deadlines.ts';
import { poolError } from '../pool-error.ts';
import type { MysqlAddress } from './mysql-url.ts';

/** One address of one host. */
export interface MysqlTarget {
  /** As DATABASE_URL names it: certificates are checked against it. */
  readonly host: string;
  readonly address: string;
  readonly port: number;
}

/** Kept by a connection: our texts are about 35, and a server keeps max_prepared_stmt_count (16,382) for all its clients. */
export const PREPARED_MAX = 100;

/** A connection that is not open yet. Throws POOL_TRUST when a file that DATABASE_URL names cannot be used. */
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
  // A connection that breaks while idle emits this; the pool finds it broken at its next use.
  return connection.on('error', () => {});
}

/** The rows of a statement. */
export function ask(connection: Connection, sql: string): Promise<RowDataPacket[]> {
  return new Promise((resolve, reject) => {
    connection.query<RowDataPacket[]>(sql, (error, rows) => (error ? reject(error) : resolve(rows)));
  });
}

/**
 * Ends a connection whose answers come out of order, as MySQL's own client does: mysql2 would take one for the answer to
 * another question. https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_packets.html#sect_protocol_basic_packets_sequence_id
 */
export function endWhenOutOfOrder(connection: Connection): void {
  connection.on('warn', () => {
    const stream = streamOf(connection);
    // Emitted, for destroy() tells it later, and the packet would be taken before.
    stream.emit('error', poolError('POOL_NOT_UNDERSTOOD', "the server's packets came out of order"));
    stream.destroy();
  });
}

/** Ends a connection at once: what it was asked fails with `reason`. mysql2's own destroy() would not tell those who wait. */
export function destroyConnection(connection: Connection, reason: Error): void {
  streamOf(connection).destroy(reason);
}

/** Ends a connection that does nothing, in good order if that does not take too long. */
export function endConnection(connection: Connection): void {
  connection.end(() => {});
  setTimeout(() => streamOf(connection).destroy(), CONNECTION_END_MS).unref();
}

/** Whether a connection can still be used, as far as is known here. */
export function isConnectionOpen(connection: Connection): boolean {
  return streamOf(connection).writable;
}

/** mysql2 types its socket as that of its pools only. */
function streamOf(connection: Connection): Socket {
  return (connection as unknown as { readonly stream: Socket }).stream; // a net.Socket or its TLSSocket
}
