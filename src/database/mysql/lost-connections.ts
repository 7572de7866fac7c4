import type { Connection, RowDataPacket } from 'mysql2';
import { LOOK_EVERY_MS, SILENT_MS } from '../../deadlines.ts';
import { errorNumber } from '../faults.ts';
import { poolError } from '../pool-error.ts';
import { destroyConnection, endConnection } from './mysql-connection.ts';
import type { MysqlSession } from './mysql-session.ts';

const DEAF = 'the server does not answer any more';

/** A connection that waits for the answer to a statement, and since when. */
export interface Waiting {
  readonly session: MysqlSession;
  readonly since: number;
}

/**
 * Finds connections that a network has dropped without a word: the server, asked on a new connection, says that it does
 * nothing on them while we wait for an answer. Asked twice, for the answer may be on its way. Those are destroyed, and
 * `onLost` is told. So are all that wait for a server that has not said a word for `deafMs`: a migration has no deadline
 * that anybody would wait for. Gives the function that ends it.
 */
export function watchForLost(
  waiting: () => readonly Waiting[],
  open: () => Promise<MysqlSession>,
  onLost: () => void,
  deafMs: number,
): () => void {
  let suspects = new Map<Connection, number>();
  let isLooking = false;
  let deafSince: number | undefined;

  const look = async () => {
    const silent = waiting().filter(({ since }) => performance.now() - since > SILENT_MS);
    if (silent.length === 0) return;
    const idle = await findIdle(silent, open);
    const again = idle.filter(({ session, since }) => suspects.get(session.connection) === since);
    suspects = new Map(idle.map(({ session, since }) => [session.connection, since]));
    const still = new Map(waiting().map(({ session, since }) => [session.connection, since]));
    for (const { session, since } of again) {
      if (still.get(session.connection) !== since) continue;
      onLost();
      destroyConnection(session.connection, poolError('POOL_TIMEOUT', 'the network lost a statement or its answer'));
    }
  };

  const leaveDeaf = () => {
    for (const { session } of waiting()) destroyConnection(session.connection, poolError('POOL_TIMEOUT', DEAF));
  };

  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      .then(
        () => {
          deafSince = undefined;
        },
        (error) => {
          // One that refuses, as when it has too many connections, is at work. Numbers of the system are negative.
          deafSince = errorNumber(error) > 0 ? undefined : (deafSince ?? performance.now());
          if (performance.now() - (deafSince ?? Number.POSITIVE_INFINITY) > deafMs) leaveDeaf();
        },
      )
      .finally(() => {
        isLooking = false;
      });
  }, LOOK_EVERY_MS).unref();
  return () => clearInterval(timer);
}

/** Those on which the server does nothing, as far as it is the same server that they lead to. */
async function findIdle(silent: readonly Waiting[], open: () => Promise<MysqlSession>): Promise<Waiting[]> {
  const { connection, identity } = await open();
  try {
    const asked = silent.filter(({ session }) => identity !== undefined && session.identity === identity);
    if (asked.length === 0) return [];
    const ids = asked.map(({ session }) => session.connection.threadId).join(', ');
    const sql = `SELECT id AS id FROM information_schema.processlist WHERE (id = CONNECTION_ID() OR id IN (${ids})) AND command <> 'Sleep'`;
    const { promise, resolve, reject } = Promise.withResolvers<RowDataPacket[]>();
    connection.query<RowDataPacket[]>({ sql, timeout: SILENT_MS }, (error, rows) =>
      error ? reject(error) : resolve(rows),
    );
    const busy = new Set((await promise).map(({ id }) => Number(id)));
    // A proxy gives ids of its own, which no server knows: then it says nothing about the others, either.
    if (connection.threadId === null || !busy.has(connection.threadId)) return [];
    return asked.filter(({ session }) => !busy.has(session.connection.threadId));
  } finally {
    endConnection(connection);
  }
}
