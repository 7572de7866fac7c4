import type { Database } from '../../src/gateway/database/connect.ts';
import * as deadlines from '../../src/gateway/deadlines.ts';
import { DatabaseFault } from '../../src/gateway/errors.ts';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';
import { createRoundTrip } from '../../src/lib/mysql-pool/round-trip.ts';
import { createSessionPool, type PoolEntry, type SessionPoolOptions } from '../../src/lib/mysql-pool/session-pool.ts';
import type { Clock } from './clock.ts';
import type { createDisk, EventLoop, Host } from './machine.ts';

/** What a statement costs: CPU in ms. */
export interface StatementCosts {
  /** Of the gateway, for a statement and its answer. */
  readonly gatewayMs: number;
  /** Of the database, for a statement. */
  readonly databaseMs: number;
  /** Of the database, for each request that a statement answers. */
  readonly databaseEachMs: number;
}

/** The kinds of statements that are simulated. */
export type StatementKind = 'list' | 'get' | 'create';

/** The way between a gateway and its database. */
export interface Way {
  /** Carries a packet there or back, and goes on. */
  carry(done: () => void): void;
}

export interface DatabaseOptions {
  readonly clock: Clock;
  /** The gateway's process. */
  readonly loop: EventLoop;
  readonly way: Way;
  readonly host: Host;
  readonly disk: ReturnType<typeof createDisk>;
  readonly connectionsMax: number;
  readonly costs: Readonly<Record<StatementKind, StatementCosts>>;
  /** Told of each statement. */
  readonly note: (kind: StatementKind, requests: number) => void;
}

type Session = Awaited<ReturnType<SessionPoolOptions['open']>>;

/**
 * A database for the gateway's own stores: their batchers and the gateway's own pool wait for simulated statements, which find no rows
 * and give new ids.
 */
export function createSimulatedDatabase(options: DatabaseOptions): Database {
  const { clock, loop, way, host, disk, connectionsMax, costs, note } = options;
  const roundTrip = createRoundTrip();
  const ask = (cpuMs: number, isCommit: boolean) =>
    new Promise<void>((resolve) => {
      const answer = () => way.carry(() => loop.receive(0, resolve));
      way.carry(() => host.use(cpuMs, () => (isCommit ? disk(answer) : answer())));
    });
  const session = {
    connection: {
      isOpen: () => true,
      exchange: (_deadline: number, work: () => PromiseLike<unknown>) => work(),
      end() {},
      destroy() {},
    },
    role: 'writable',
    lockMs: deadlines.LOCK_MS,
    packetBytes: 2 ** 24,
    stillTakesWrites: async () => {
      await ask(costs.get.databaseMs, false);
      return true;
    },
  };
  const pool = createSessionPool({
    max: connectionsMax,
    // As much of a session as the pool and this file use.
    open: async () => ({ ...session, checkedAt: clock.now() }) as unknown as Session,
    times: {
      roleIntervalMs: deadlines.ROLE_INTERVAL_MS,
      roleTimeoutMs: deadlines.ROLE_TIMEOUT_MS,
      roleMaxAgeMs: deadlines.ROLE_MAX_AGE_MS,
    },
    roundTrip,
  });
  const run = async (kind: StatementKind, requests: number, deadline = deadlineIn(deadlines.REQUEST_MS)) => {
    note(kind, requests);
    const { gatewayMs, databaseMs, databaseEachMs } = costs[kind];
    const entry: PoolEntry = await pool.acquire(deadline);
    try {
      await new Promise<void>((sent) => loop.goOn(gatewayMs / 2, sent));
      await pool.runOn(entry, deadline, () =>
        roundTrip.measure(() => ask(databaseMs + requests * databaseEachMs, kind === 'create')),
      );
      await new Promise<void>((read) => loop.goOn(gatewayMs / 2, read));
    } finally {
      pool.release(entry);
    }
  };
  let id = 0;
  const simulated: Partial<Database> = {
    engine: 'mysql',
    connectionsMax,
    async query<Row>(sql: string, bindings: readonly unknown[], deadline?: number): Promise<Row[]> {
      const isList = sql.includes('ORDER BY id');
      await run(isList ? 'list' : 'get', isList ? sql.split(' UNION ALL ').length : bindings.length, deadline);
      return [];
    },
    async insert(_into, rows, deadline) {
      await run('create', rows.length, deadline);
      return rows.map(() => String(++id) as Awaited<ReturnType<Database['insert']>>[number]); // digits
    },
    packetBytes: pool.packetBytes,
    roundTripMs: roundTrip.ms,
    lateError: () => new DatabaseFault('unavailable'),
  };
  return simulated as Database; // the stores use no more of it
}
