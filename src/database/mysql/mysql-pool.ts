import type { Connection } from 'mysql2';
import { type Deadline, remainingMs } from '../../deadline.ts';
import { ROLE_KNOWN_MS, ROLE_LIMIT_MS, ROLE_TRUSTED_MS } from '../../deadlines.ts';
import { isHostLost, isStaleSession } from '../faults.ts';
import { poolError } from '../pool-error.ts';
import { createWayMeter, noteTime, type WayMeter } from '../time-meter.ts';
import { type ConnectionPool, createConnectionPool } from './connection-pool.ts';
import { watchForLost } from './lost-connections.ts';
import { destroyConnection, endConnection, isConnectionOpen } from './mysql-connection.ts';
import { type MysqlSession, openSession, type SessionLimits, stillTakesWrites } from './mysql-session.ts';
import type { MysqlAddress } from './mysql-url.ts';
import { createWritableHost } from './writable-host.ts';

/** Connections to the server that takes writes. */
export interface MysqlPool extends Pick<ConnectionPool<Connection>, 'release' | 'close' | 'state'> {
  acquire(deadline: Deadline): Promise<Connection>;
  /**
   * Asks the server on a connection in use; an answer that the network has lost is not waited for until the deadline, and
   * an error that says that the server takes no writes leaves it.
   */
  ask<Answer>(connection: Connection, question: () => Promise<Answer>): Promise<Answer>;
  /** Whether the server of the last session takes writes. */
  takesWrites(): boolean;
  /** How long the way to the server takes; told by its role checks, and by whoever reads. */
  readonly way: WayMeter;
}

/** A connection lives this long, in ms, more or less a fifth: what moved without a sign is found by then. */
const LIFETIME_MS = 30 * 60_000;
/** A read-only server may be left for another by those who move its address: then soon by us, too. */
const READ_ONLY_LIFETIME_MS = 250;
/** Sessions that were refused for their rights are left at most this often, in ms: each new one is work for the server. */
const STALE_REST_MS = 1000;
/** A server to which no new connection could be opened in the time of so many attempts is not waited for. */
const DEAF_ATTEMPTS = 6;

/** What the sessions that lead to one server share. */
interface Server {
  /** When it was asked whether it takes writes. */
  askedAt: number;
  /** When that was asked to which it said yes: what it answers now is as old as this at the most. */
  heardAt: number;
}

interface Kept extends MysqlSession {
  readonly server: Server;
  readonly expiresAt: number;
  heardAt: number;
  /** Since when it waits for the answer to a statement, in ms of `performance.now()`. */
  waitingSince: number | undefined;
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
  const way = createWayMeter();

  const pool = createConnectionPool<Connection>({
    max,
    async open() {
      const kept = keep(await openWritable(), current);
      sessions.set(kept.connection, kept);
      return kept.connection;
    },
    replacesOthers(connection) {
      const before = current;
      current = sessions.get(connection);
      return before !== undefined && before.identity !== current?.identity;
    },
    isUsable: (connection) => isConnectionOpen(connection) && isAlive(sessions.get(connection)),
    destroy(connection, reason) {
      suspectBefore = performance.now();
      destroyConnection(connection, reason);
    },
    end: endConnection,
  });

  const waiting = () =>
    pool.inUse().flatMap((connection) => {
      const session = sessions.get(connection);
      return session?.waitingSince === undefined ? [] : [{ session, since: session.waitingSince }];
    });
  const stopWatch = watchForLost(waiting, openWritable, pool.leave, DEAF_ATTEMPTS * limits.connectMs);

  const leaveIfHostLost = (connection: Connection, error: unknown): void => {
    if (!isHostLost(error) || sessions.get(connection)?.role !== 'writable') return;
    // A member that has lost its cluster refuses ROLLBACK, too, and keeps the transaction: the next one's write would
    // join it and be acknowledged without a COMMIT, and the next BEGIN would commit what was answered with 503.
    destroyConnection(connection, poolError('POOL_NO_WRITER', 'the server takes no writes now'));
    pool.leave();
  };

  /** What one session may not do, none may that is as old; a new one may, once its rights were given back. */
  const leaveStale = atMostEvery(STALE_REST_MS, pool.leave);

  return {
    ...checkRoles(pool, {
      sessionOf: (connection) => sessions.get(connection),
      suspectBefore: () => suspectBefore,
      askRole: (kept, limitMs) => noteTime(way.note, () => stillTakesWrites(kept, limitMs)),
    }),
    async ask(connection, question) {
      const session = sessions.get(connection);
      if (session) session.waitingSince = performance.now();
      try {
        return await question();
      } catch (error) {
        leaveIfHostLost(connection, error);
        if (isStaleSession(error)) leaveStale();
        throw error;
      } finally {
        if (session) session.waitingSince = undefined;
      }
    },
    close: () => pool.close().finally(stopWatch),
    state: pool.state,
    takesWrites: () => current?.role === 'writable',
    way,
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

function isAlive(session: Kept | undefined): boolean {
  return session !== undefined && session.expiresAt > performance.now();
}

function keep(session: MysqlSession, current: Kept | undefined): Kept {
  const now = performance.now();
  const isSame = session.identity !== undefined && session.identity === current?.identity;
  const server = isSame && current ? current.server : { askedAt: session.askedAt, heardAt: session.askedAt };
  server.askedAt = Math.max(server.askedAt, session.askedAt);
  server.heardAt = Math.max(server.heardAt, session.askedAt);
  const lifetimeMs = session.role === 'writable' ? LIFETIME_MS * (0.8 + 0.4 * Math.random()) : READ_ONLY_LIFETIME_MS;
  return { ...session, server, expiresAt: now + lifetimeMs, heardAt: now, waitingSince: undefined };
}

interface RoleCheckParts {
  sessionOf(connection: Connection): Kept | undefined;
  /** Connections that were heard last before this moment may be dead. */
  suspectBefore(): number;
  /** Whether the server takes writes; rejects after so many ms. */
  askRole(kept: Kept, limitMs: number): Promise<boolean>;
}

/** A pool's `acquire` and `release` that ask the server now and then whether it still takes writes. */
function checkRoles(
  pool: ConnectionPool<Connection>,
  { sessionOf, suspectBefore, askRole }: RoleCheckParts,
): Pick<MysqlPool, 'acquire' | 'release'> {
  /** Asks the server of a connection in use; leaves it, and all others, if it does not say that it takes writes. */
  const checkRole = async (kept: Kept, limitMs: number): Promise<boolean> => {
    const askedAt = performance.now();
    kept.server.askedAt = askedAt;
    const isGood = await askRole(kept, limitMs).catch(() => false);
    kept.heardAt = performance.now();
    if (isGood) kept.server.heardAt = Math.max(kept.server.heardAt, askedAt);
    // The silence of less than a server is granted tells nothing about the other connections.
    else if (limitMs === ROLE_LIMIT_MS || isConnectionOpen(kept.connection)) pool.leave();
    return isGood;
  };
  const isOver = (kept: Kept, since: number, ms: number) => kept.role === 'writable' && performance.now() - since > ms;
  return {
    async acquire(deadline) {
      for (;;) {
        const connection = await pool.acquire(deadline);
        const kept = sessionOf(connection);
        if (kept === undefined) return connection;
        // Each asks for itself: another's question is no answer yet.
        if (kept.heardAt >= suspectBefore() && !isOver(kept, kept.server.heardAt, ROLE_TRUSTED_MS)) return connection;
        if (await checkRole(kept, Math.min(remainingMs(deadline), ROLE_LIMIT_MS))) return connection;
        pool.release(connection);
        if (remainingMs(deadline) === 0) throw poolError('POOL_TIMEOUT', 'the database did not answer in time');
      }
    },
    release(connection) {
      const kept = sessionOf(connection);
      if (kept === undefined || !isConnectionOpen(connection)) return pool.release(connection);
      kept.heardAt = performance.now();
      if (!isOver(kept, kept.server.askedAt, ROLE_KNOWN_MS)) return pool.release(connection);
      void checkRole(kept, ROLE_LIMIT_MS).then(() => pool.release(connection));
    },
  };
}
