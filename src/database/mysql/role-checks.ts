import type { Connection } from 'mysql2';
import { remainingMs } from '../../deadline.ts';
import { ROLE_KNOWN_MS, ROLE_LIMIT_MS, ROLE_TRUSTED_MS } from '../../deadlines.ts';
import { poolError } from '../pool-error.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { isConnectionOpen } from './mysql-connection.ts';
import type { MysqlSession } from './mysql-session.ts';

/** A connection lives this long, in ms, more or less a fifth: what moved without a sign is found by then. */
const LIFETIME_MS = 30 * 60_000;
/** A read-only server may be left for another by those who move its address: then soon by us, too. */
const READ_ONLY_LIFETIME_MS = 250;
/** What is known of one server. */
interface Server {
  /** When it was last asked whether it takes writes. */
  askedAt: number;
  /** When the last question was sent to which it answered that it does. */
  writableAt: number;
}

/** A session in the pool. */
export interface PooledSession extends MysqlSession {
  readonly server: Server;
  readonly expiresAt: number;
  /** When it last gave an answer. */
  heardAt: number;
}

/** Whether a session may still be used. */
export function isAlive(session: PooledSession | undefined): boolean {
  return session !== undefined && session.expiresAt > performance.now();
}

/** A new session, which shares with `current` what is known of their server. */
export function toPooled(session: MysqlSession, current: PooledSession | undefined): PooledSession {
  const now = performance.now();
  const isSame = session.identity !== undefined && session.identity === current?.identity;
  const server = isSame && current ? current.server : { askedAt: 0, writableAt: 0 };
  server.askedAt = Math.max(server.askedAt, session.askedAt);
  server.writableAt = Math.max(server.writableAt, session.askedAt);
  const lifetimeMs = session.role === 'writable' ? LIFETIME_MS * (0.8 + 0.4 * Math.random()) : READ_ONLY_LIFETIME_MS;
  return { ...session, server, expiresAt: now + lifetimeMs, heardAt: now };
}

interface RoleCheckParts {
  sessionOf(connection: Connection): PooledSession | undefined;
  /** Connections that were heard last before this moment may be dead. */
  suspectBefore(): number;
  /** Whether the server takes writes; rejects after so many ms. */
  askRole(session: PooledSession, limitMs: number): Promise<boolean>;
}

/** A pool's `acquire` and `release` that ask the server now and then whether it still takes writes. */
export function checkRoles(
  pool: ConnectionPool<Connection>,
  { sessionOf, suspectBefore, askRole }: RoleCheckParts,
): Pick<ConnectionPool<Connection>, 'acquire' | 'release'> {
  /** Asks the server of a connection in use; abandons all connections if it does not say that it takes writes. */
  const checkRole = async (session: PooledSession, limitMs: number): Promise<boolean> => {
    const askedAt = performance.now();
    session.server.askedAt = askedAt;
    const isGood = await askRole(session, limitMs).catch(() => false);
    session.heardAt = performance.now();
    if (isGood) session.server.writableAt = Math.max(session.server.writableAt, askedAt);
    // A server that had less than its time to answer tells nothing about the other connections by its silence.
    else if (limitMs === ROLE_LIMIT_MS || isConnectionOpen(session.connection)) pool.abandon();
    return isGood;
  };
  const isOver = (session: PooledSession, since: number, ms: number) =>
    session.role === 'writable' && performance.now() - since > ms;
  return {
    async acquire(deadline) {
      for (;;) {
        const connection = await pool.acquire(deadline);
        const session = sessionOf(connection);
        if (session === undefined) return connection;
        // Each asks for itself: the answer to a question that was sent before this request came may be out of date.
        const isTrusted = !isOver(session, session.server.writableAt, ROLE_TRUSTED_MS);
        if (isTrusted && session.heardAt >= suspectBefore()) return connection;
        if (await checkRole(session, Math.min(remainingMs(deadline), ROLE_LIMIT_MS))) return connection;
        pool.release(connection);
        if (remainingMs(deadline) === 0) throw poolError('POOL_TIMEOUT', 'the database did not answer in time');
      }
    },
    release(connection) {
      const session = sessionOf(connection);
      if (session === undefined || !isConnectionOpen(connection)) return pool.release(connection);
      session.heardAt = performance.now();
      if (!isOver(session, session.server.askedAt, ROLE_KNOWN_MS)) return pool.release(connection);
      void checkRole(session, ROLE_LIMIT_MS).then(() => pool.release(connection));
    },
  };
}
