import type { Connection } from 'mysql2';
import type { Deadline } from '../../deadline.ts';
import { ROLE_LIMIT_MS } from '../../deadlines.ts';
import { errorNumber, isHostLost, isUnderstood, means } from '../faults.ts';
import { poolError } from '../pool-error.ts';
import { createRoundTrip } from '../round-trip.ts';
import { type ConnectionPool, createConnectionPool } from './connection-pool.ts';
import { destroyConnection, endConnection, exchange, isConnectionOpen } from './mysql-connection.ts';
import { hasSameMembers, openSession, stillTakesWrites } from './mysql-session.ts';
import type { MysqlAddress } from './mysql-url.ts';
import { checkRoles, isAlive, type PooledSession, toPooled } from './role-checks.ts';
import type { SessionLimits } from './session-settings.ts';
import { createWritableHost } from './writable-host.ts';

/** Limits of a pool and of its sessions. */
export interface PoolLimits extends SessionLimits {
  /** After each such time without an answer to a statement, in ms, the server must let a new connection in; undefined: no look. */
  readonly lookEveryMs?: number;
}

/** Connections to the server that takes writes. */
export interface MysqlPool extends Pick<ConnectionPool<Connection>, 'acquire' | 'release' | 'close' | 'state'> {
  /**
   * What `question` gives, which asks something on a connection in use. Rejects at the deadline and when the connection
   * fails. An error that says that the server takes no writes, or that the session is of the past, abandons connections.
   */
  ask<Answer>(connection: Connection, deadline: Deadline, question: () => PromiseLike<Answer>): Promise<Answer>;
  /** Whether the server of the last session takes writes. */
  takesWrites(): boolean;
  /** Measured by role checks and reads. */
  readonly roundTrip: ReturnType<typeof createRoundTrip>;
}

/** Sessions that were refused for their rights are abandoned at most this often, in ms: each new one is work for the server. */
const STALE_REST_MS = 1000;
/** An opening may look up names, try one server, wait for the search of another opening, and try once more: so many times `connectMs`. */
const OPENING_STEPS = 5;

/**
 * A pool that stays with one server as long as it takes writes. When it does not any more, or another one answers at its
 * address, all connections that were opened before are abandoned: no read comes from a server that was left.
 */
export function createMysqlPool(address: MysqlAddress, max: number, limits: PoolLimits): MysqlPool {
  const openWritable = createWritableHost(address.hosts, (target) => openSession(address, target, limits));
  const sessions = new WeakMap<Connection, PooledSession>();
  let current: PooledSession | undefined;
  /** Connections that were heard last before this moment may be dead: another one has failed. */
  let suspectBefore = 0;
  const roundTrip = createRoundTrip();

  const pool = createConnectionPool<Connection>({
    max,
    openMs: OPENING_STEPS * limits.connectMs,
    async open() {
      const session = toPooled(await openWritable(), current);
      sessions.set(session.connection, session);
      return session.connection;
    },
    replacesOthers(connection) {
      const before = current;
      current = sessions.get(connection);
      return before !== undefined && before.identity !== current?.identity;
    },
    isUsable: (connection) => isConnectionOpen(connection) && isAlive(sessions.get(connection)),
    end: endConnection,
  });

  /** Ends the connection unless its server lets a new one in: a frozen one would hold a statement without limit for ever. */
  const look = async (connection: Connection) => {
    const session = await openWritable().catch((error) => ({ connection: undefined, isFull: errorNumber(error) > 0 }));
    if (session.connection) endConnection(session.connection);
    const isThere = session.connection ? session.identity === sessions.get(connection)?.identity : session.isFull;
    if (!isThere) destroyConnection(connection, poolError('POOL_TIMEOUT', 'the server does not answer any more'));
  };

  /** What one session may not do, none may that is as old; a new one may, once its rights were given back. */
  const abandonStale = atMostEvery(STALE_REST_MS, pool.abandon);

  const learnFrom = (error: unknown, connection: Connection): void => {
    if (!isConnectionOpen(connection)) suspectBefore = performance.now();
    // The rest of such an answer would be taken for the answer to the next question.
    else if (!isUnderstood(error)) destroyConnection(connection, Object.assign(error as Error, { fatal: true })); // as mysql2 marks its own
    if (means(error, 'staleSession')) abandonStale();
    if (!isHostLost(error) || sessions.get(connection)?.role !== 'writable') return;
    // A member that has lost its cluster refuses ROLLBACK, too, and keeps the transaction: the next one's write would
    // join it and be acknowledged without a COMMIT, and the next BEGIN would commit what was answered with 503.
    destroyConnection(connection, poolError('POOL_NO_WRITER', 'the server takes no writes now'));
    pool.abandon();
  };

  return {
    ...checkRoles(pool, {
      sessionOf: (connection) => sessions.get(connection),
      suspectBefore: () => suspectBefore,
      askRole: (session, limitMs) => roundTrip.measure(() => stillTakesWrites(session, limitMs)),
    }),
    async ask(connection, deadline, question) {
      const timer = limits.lookEveryMs && setInterval(() => void look(connection), limits.lookEveryMs);
      try {
        return await exchange(connection, deadline, question);
      } catch (error) {
        learnFrom(error, connection);
        if (means(error, 'rolledBack') && !(await isSurelyUndone(sessions.get(connection))))
          throw membersChanged(error);
        throw error;
      } finally {
        if (timer) clearInterval(timer);
      }
    },
    close: pool.close,
    state: pool.state,
    takesWrites: () => current?.role === 'writable',
    roundTrip,
  };
}

/** `work`, but for calls that come within so many ms of the last one. */
function atMostEvery(ms: number, work: () => void): () => void {
  let doneAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() < doneAt + ms) return;
    doneAt = performance.now();
    work();
  };
}

/** Whether a server's word that something was rolled back is to be believed. */
async function isSurelyUndone(session: PooledSession | undefined): Promise<boolean> {
  return session?.members === undefined || hasSameMembers(session, ROLE_LIMIT_MS).catch(() => false);
}

function membersChanged(cause: unknown): Error {
  return poolError('POOL_NOT_UNDERSTOOD', 'members of the cluster have changed: it may have been done', cause);
}
