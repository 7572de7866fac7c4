import { AsyncLocalStorage } from 'node:async_hooks';
import knexFactory, { type Knex } from 'knex';
import type { Config } from '../config.ts';
import { type Deadline, deadlineIn, remainingMs } from '../deadline.ts';
import { ANSWER_MS, REQUEST_MS, UNHURRIED_MS } from '../deadlines.ts';
import { DatabaseFault } from '../errors.ts';
import type { Int64 } from '../int64.ts';
import { withoutFaults } from './faults.ts';
import { createMysqlClient, REQUEST_LIMITS, UNHURRIED_LIMITS } from './mysql/mysql.ts';
import { poolError } from './pool-error.ts';
import type { Binding } from './prepared.ts';
import { createSqliteClient } from './sqlite/sqlite.ts';

/** What DATABASE_URL leads to: a server of the MySQL protocol, or the embedded store. */
export type Engine = 'mysql' | 'sqlite';

/** How work is done: whether doing it twice does no harm; when it is given up, by default a request's time from now. */
export interface WorkOptions {
  readonly repeatable?: boolean;
  readonly deadline?: Deadline | undefined;
}

/** An open database: the query builder and what a room may ask about it. */
export interface Database {
  readonly knex: Knex;
  readonly engine: Engine;
  /** How many connections it may have at once. */
  readonly connectionsMax: number;
  /**
   * Runs `work`, which is one statement or one transaction. A database that is away or too slow is a DatabaseFault `unavailable`.
   */
  run<T>(work: (knex: Knex) => PromiseLike<T>, options?: WorkOptions): Promise<T>;
  /** The rows of a prepared statement, for the few hot queries; 64-bit integers as in `knex`. A request names its deadline. */
  query<Row>(sql: string, bindings: readonly Binding[], deadline: Deadline | undefined): Promise<Row[]>;
  /** The ids, in the order of the rows, that one prepared INSERT gives; `into` is `table (column, ...)`. */
  insert(into: string, rows: readonly (readonly Binding[])[], deadline: Deadline | undefined): Promise<Int64[]>;
  /** The server's version text; DatabaseFault `unavailable` when the database does not answer. */
  ping(deadline?: Deadline): Promise<string>;
  /** The shortest round trip of late, in ms; 0 as long as none was measured, and for the embedded store. */
  roundTripMs(): number;
  /** How many calls of `run` and `insert` have failed so far: when it has grown, a write may be refused again. */
  failures(): number;
  /** Whether the server that was reached last takes writes. */
  takesWrites(): boolean;
  /** Connections of the pool in use and free, and how many callers wait for one. */
  poolState(): { used: number; free: number; waiting: number };
  /** The same database for work that may take minutes, such as a migration. Close it after use. */
  unhurried(): Database;
  /** Waits for the queries in flight, then closes every connection. */
  close(): Promise<void>;
}

const SILENT = { debug() {}, deprecate() {}, warn() {}, error() {} };

/**
 * The database of DATABASE_URL. Connections open on first use, so an unreachable server is seen by
 * `ping`, not here. Throws ConfigError when the address itself is wrong.
 */
export function connectDatabase({ databaseUrl, databasePoolMax }: Pick<Config, 'databaseUrl' | 'databasePoolMax'>) {
  if (!databaseUrl.startsWith('mysql:')) {
    const database: Database = createDatabase('sqlite', 1, REQUEST_MS, {
      createClient: () => createSqliteClient(databaseUrl),
      unhurried: () => ({ ...database, close: async () => {} }), // the one connection may be all there is of `:memory:`
    });
    return database;
  }
  const connectMysql = (max: number, limits: typeof REQUEST_LIMITS, workMs: number): Database =>
    createDatabase('mysql', max, workMs, {
      createClient: (currentDeadline) => createMysqlClient(databaseUrl, max, limits, currentDeadline),
      unhurried: () => connectMysql(2, UNHURRIED_LIMITS, UNHURRIED_MS), // one holds the lock of migrations
    });
  return connectMysql(databasePoolMax, REQUEST_LIMITS, REQUEST_MS);
}

/** `createClient` makes Knex's client; what Knex itself asks of it has the deadline that `currentDeadline` gives. */
function createDatabase(
  engine: Engine,
  connectionsMax: number,
  workMs: number,
  {
    createClient,
    unhurried,
  }: { createClient: (currentDeadline: () => Deadline) => Knex.Config; unhurried: Database['unhurried'] },
): Database {
  // Knex hands nothing through to its client: the deadline of a piece of work reaches it beside the arguments.
  const deadlines = new AsyncLocalStorage<Deadline>();
  const client = createClient(() => deadlines.getStore() ?? deadlineIn(workMs));
  // Errors reach our log with placeholders: stored values do not belong there.
  const knex = knexFactory({ ...client, compileSqlOnError: false, log: SILENT });
  let failures = 0;
  const countFailure = (error: unknown): never => {
    failures++;
    throw error;
  };
  const before = (deadline = deadlineIn(workMs)): Deadline => deadline - ANSWER_MS;
  const run: Database['run'] = (work, { repeatable, deadline } = {}) => {
    const end = before(deadline);
    const done = deadlines
      .run(end, () => withoutFaults(() => work(knex), end, repeatable ? 'repeatable' : 'write'))
      .catch(countFailure);
    return engine === 'sqlite' && deadline !== undefined ? untilDeadline(done, end) : done;
  };
  const query: Database['query'] = <Row>(sql: string, bindings: readonly Binding[], deadline?: Deadline) => {
    const end = before(deadline);
    // Both of our clients have this one and insertPrepared; Knex types a client as any.
    return withoutFaults<Row[]>(() => knex.client.queryPrepared(sql, bindings, end), end, 'read');
  };
  const version = engine === 'mysql' ? 'version()' : 'sqlite_version()';
  return {
    knex,
    engine,
    connectionsMax,
    run,
    query,
    insert(into, rows, deadline) {
      const end = before(deadline);
      return withoutFaults<Int64[]>(() => knex.client.insertPrepared(into, rows, end), end).catch(countFailure);
    },
    unhurried,
    roundTripMs: () => knex.client.roundTripMs?.() ?? 0,
    failures: () => failures,
    takesWrites: () => knex.client.takesWrites?.() ?? true,
    poolState() {
      if (engine === 'mysql') return knex.client.poolState(); // Knex types its client as any
      const { pool } = knex.client;
      return { used: pool.numUsed(), free: pool.numFree(), waiting: pool.numPendingAcquires() };
    },
    async ping(deadline) {
      const [row] = await query<{ version: string }>(`SELECT ${version} AS version`, [], deadline);
      return row?.version ?? 'unknown';
    },
    close: () => knex.destroy(),
  };
}

/** What `done` gives, or DatabaseFault `unavailable` at the deadline. A write that waits for another process may be done later. */
function untilDeadline<T>(done: Promise<T>, deadline: Deadline): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const late = () =>
    reject(new DatabaseFault('unavailable', poolError('POOL_TIMEOUT', 'the database did not answer in time')));
  const timer = setTimeout(late, remainingMs(deadline));
  done.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}
