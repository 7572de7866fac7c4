import type { Connection } from 'mysql2';
import { type Deadline, remainingMs } from '../deadline.ts';
import { type ConnectionPool, createConnectionPool, poolError } from './connection-pool.ts';
import { isHostLost } from './faults.ts';
import {
  destroyConnection,
  endConnection,
  isConnectionOpen,
  type MysqlSession,
  openSession,
  type SessionLimits,
  stillTakesWrites,
} from './mysql-session.ts';
import type { MysqlAddress } from './mysql-url.ts';
import { createWritableHost } from './writable-host.ts';

/** Connections to the server that takes writes. */
export interface MysqlPool extends Pick<ConnectionPool<Connection>, 'acquire' | 'release' | 'close' | 'state'> {
  /** Draws what follows from an error that work on a connection met. */
  judge(connection: Connection, error: unknown): void;
  /** Whether the server of the last session takes writes. */
  takesWrites(): boolean;
}

/** A connection lives this long, in ms, more or less a fifth: what moved without a sign is found by then. */
const LIFETIME_MS = 30 * 60_000;
/** A read-only server may be left for another by those who move its address: then soon by us, too. */
const READ_ONLY_LIFETIME_MS = 250;
/** A server is asked again whether it takes writes after this time, in ms, beside the requests … */
const ROLE_KNOWN_MS = 500;
/** … and before the next request when it was not asked for so long. */
const ROLE_TRUSTED_MS = 1500;
/** How long the answer may take, in ms. */
const ROLE_LIMIT_MS = 1000;

/** What the sessions that lead to one server share. */
interface Server {
  askedAt: number;
}

interface Kept extends MysqlSession {
  readonly server: Server;
  readonly expiresAt: number;
  heardAt: number;
}

/**
 * A pool that stays with one server as long as it takes writes. When it does not any more, or another one answers at its
 * address, all connections that were opened before are left: no read comes from a server that was left.
 */
export function createMysqlPool(address: MysqlAddress, max: number, limits: SessionLimits): MysqlPool {
  const openWritable = createWritableHost(address.hosts, (target) => openSession(address, target, limits));
  const sessions = new WeakMap<Connection, Kept>();
  let current: Kept | undefined;
  /** Connections that were heard last before this moment may be dead: another one did not answer. */
  let suspectBefore = 0;

  const keep = (session: MysqlSession): Connection => {
    const now = performance.now();
    const isSame = session.identity !== undefined && session.identity === current?.identity;
    const server = isSame && current ? current.server : { askedAt: now };
    server.askedAt = now;
    const lifetimeMs = session.role === 'writable' ? LIFETIME_MS * (0.8 + 0.4 * Math.random()) : READ_ONLY_LIFETIME_MS;
    sessions.set(session.connection, { ...session, server, expiresAt: now + lifetimeMs, heardAt: now });
    return session.connection;
  };

  const pool = createConnectionPool<Connection>({
    max,
    open: async () => keep(await openWritable()),
    replacesOthers(connection) {
      const before = current;
      current = sessions.get(connection);
      return before !== undefined && before.identity !== current?.identity;
    },
    isUsable: (connection) =>
      isConnectionOpen(connection) && (sessions.get(connection)?.expiresAt ?? 0) > performance.now(),
    destroy(connection, reason) {
      suspectBefore = performance.now();
      destroyConnection(connection, reason);
    },
    end: endConnection,
  });

  /** Asks the server of a connection in use; leaves it, and all others, if it does not say that it takes writes. */
  const checkRole = async (kept: Kept, limitMs: number): Promise<boolean> => {
    kept.server.askedAt = performance.now();
    const isGood = await stillTakesWrites(kept, limitMs).catch(() => false);
    kept.heardAt = performance.now();
    if (!isGood) pool.leave();
    return isGood;
  };

  const isDue = (kept: Kept, ms: number) => kept.role === 'writable' && performance.now() - kept.server.askedAt > ms;

  return {
    async acquire(deadline: Deadline) {
      for (;;) {
        const connection = await pool.acquire(deadline);
        const kept = sessions.get(connection);
        if (kept === undefined) return connection;
        if (kept.heardAt >= suspectBefore && !isDue(kept, ROLE_TRUSTED_MS)) return connection;
        if (await checkRole(kept, Math.min(remainingMs(deadline), ROLE_LIMIT_MS))) return connection;
        pool.release(connection);
        if (remainingMs(deadline) === 0) throw poolError('POOL_TIMEOUT', 'the database did not answer in time');
      }
    },
    release(connection) {
      const kept = sessions.get(connection);
      if (kept === undefined || !isConnectionOpen(connection)) return pool.release(connection);
      kept.heardAt = performance.now();
      if (!isDue(kept, ROLE_KNOWN_MS)) return pool.release(connection);
      void checkRole(kept, ROLE_LIMIT_MS).then(() => pool.release(connection));
    },
    judge(connection, error) {
      if (!isHostLost(error) || sessions.get(connection)?.role !== 'writable') return;
      // A member that has lost its cluster refuses ROLLBACK, too, and keeps the transaction: the next one's write would
      // join it and be acknowledged without a COMMIT, and the next BEGIN would commit what was answered with 503.
      destroyConnection(connection, poolError('POOL_NO_WRITER', 'the server takes no writes now'));
      pool.leave();
    },
    close: pool.close,
    state: pool.state,
    takesWrites: () => current?.role === 'writable',
  };
}
