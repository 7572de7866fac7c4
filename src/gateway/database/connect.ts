import { AsyncLocalStorage } from 'node:async_hooks';
import knexFactory, { type Knex } from 'knex';
import { type Deadline, deadlineIn, remainingMs } from '../../lib/deadline/deadline.ts';
import type { Int64 } from '../../lib/exact-json/exact-json.ts';
import type { Config } from '../config.ts';
import { ANSWER_MS, LONG_WORK_MS, REQUEST_MS } from '../deadlines.ts';
import { DatabaseFault } from '../errors.ts';
import type { Binding, Into, RowValues } from '../kinds.ts';
import { withRetries } from './faults.ts';

/** The kind of database behind DATABASE_URL: a server of the MySQL protocol, or the embedded SQLite store. */
export type Engine = 'mysql' | 'sqlite';

/** SQL for the time of the database, in ms since 1970. The age of a row is measured by it, because gateways' clocks may differ. */
export const NOW_MS: Readonly<Record<Engine, string>> = {
  // In UTC: local time has one hour of the year twice, https://dev.mysql.com/doc/refman/9.7/en/date-and-time-functions.html
  mysql: "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)",
  sqlite: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
};

/** An open database. */
export interface Database {
  readonly knex: Knex;
  readonly engine: Engine;
  readonly connectionsMax: number;
  /**
   * Runs `work`, one statement or one transaction. `idempotent` work may be done twice without harm, so it is retried more often.
   * The default deadline is REQUEST_MS from now, of `forLongWork` LONG_WORK_MS. DatabaseFault `unavailable` when the database is away or too slow.
   */
  run<T>(
    work: (knex: Knex) => PromiseLike<T>,
    options?: { readonly idempotent?: boolean; readonly deadline?: Deadline | undefined },
  ): Promise<T>;
  /** The rows of a prepared statement, for the few hot queries; 64-bit integers as in `knex`. */
  query<Row>(sql: string, bindings: readonly Binding[], deadline: Deadline | undefined): Promise<Row[]>;
  /** Adds rows, all or none; gives their ids in the order of the rows. */
  insert(into: Into, rows: readonly RowValues[], deadline: Deadline | undefined): Promise<Int64[]>;
  /** The server's version text; DatabaseFault `unavailable` when the database does not answer. */
  ping(): Promise<string>;
  /** The size limit of a statement, in bytes. */
  packetBytes(): number;
  /** The shortest recent round trip, in ms; 0 before the first measurement, and for the embedded store. */
  roundTripMs(): number;
  /** DatabaseFault `unavailable`, for work that is not done at its deadline. */
  lateError(): DatabaseFault;
  /** How many calls of `run` and `insert` have failed so far. */
  failures(): number;
  /** Whether the server that was connected to last takes writes. */
  takesWrites(): boolean;
  /** The pool's connections in use and free, and its waiters. */
  poolState(): { used: number; free: number; waiting: number };
  /** Loads and starts what the first write would. */
  preload(): Promise<void>;
  /** A second handle with long deadlines, for work such as a migration. Close it after use. */
  forLongWork(): Database;
  /** Waits for the queries in flight, then closes all connections. */
  close(): Promise<void>;
}

/** What the client of either engine has besides Knex's own members. `end` is the deadline of a statement. */
interface EngineClient extends Pick<Database, 'packetBytes' | 'roundTripMs' | 'takesWrites' | 'poolState' | 'preload'> {
  queryPrepared(sql: string, bindings: readonly Binding[], end: Deadline): Promise<unknown[]>;
  insertPrepared(into: Into, rows: readonly RowValues[], end: Deadline): Promise<string[]>;
  /** As `insertPrepared`, on the connection of a transaction. */
  insertOn(connection: unknown, into: Into, rows: readonly RowValues[]): Promise<string[]>;
  /** Whether the database may change so many rows, or their ids: then they are to be added by `insertOn`. */
  mayChange(count: number): boolean;
}

/**
 * The database of DATABASE_URL. Connections open on first use: call `ping` to know whether the server answers. `tell` gets, once, what
 * an operator should know. Throws ConfigError when the address itself is wrong.
 */
export async function connectDatabase(
  { databaseUrl, databasePoolMax }: Pick<Config, 'databaseUrl' | 'databasePoolMax'>,
  tell: (what: string) => void = () => {},
): Promise<Database> {
  // Only the engine in use is loaded, because loading mysql2 makes the start of the embedded store slower.
  if (!databaseUrl.startsWith('mysql:')) {
    const { createStoreConfig } = await import('./sqlite-store.ts');
    const database: Database = {
      ...createDatabase('sqlite', 1, REQUEST_MS, () => createStoreConfig(databaseUrl)),
      forLongWork: () => ({ ...database, close: async () => {} }), // a second connection to `:memory:` would open another database
    };
    return database;
  }
  const { createMysqlConfig, REQUEST_LIMITS, LONG_WORK_LIMITS } = await import('./mysql.ts');
  const connect = (max: number, limits: typeof REQUEST_LIMITS, workMs: number): Database => ({
    ...createDatabase('mysql', max, workMs, (deadline) => createMysqlConfig(databaseUrl, max, limits, deadline, tell)),
    forLongWork: () => connect(2, LONG_WORK_LIMITS, LONG_WORK_MS), // one connection holds the migration lock
  });
  return connect(databasePoolMax, REQUEST_LIMITS, REQUEST_MS);
}

/** `createConfig` gives the settings of Knex's client. Its queries end at `currentDeadline`. `workMs` is the default deadline. */
function createDatabase(
  engine: Engine,
  connectionsMax: number,
  workMs: number,
  createConfig: (
    currentDeadline: () => Deadline,
  ) => Knex.Config & { client: new (config: Knex.Config) => EngineClient },
): Omit<Database, 'forLongWork'> {
  // Knex passes no context to its client, so the deadline goes through AsyncLocalStorage.
  const deadlines = new AsyncLocalStorage<Deadline>();
  const config = createConfig(() => deadlines.getStore() ?? deadlineIn(workMs));
  const log = { debug() {}, deprecate() {}, warn() {}, error() {} };
  // Errors quote SQL with placeholders only: stored values must not get into the log.
  const knex = knexFactory({ ...config, compileSqlOnError: false, log });
  const client: EngineClient = knex.client; // Knex types it as any
  let failures = 0;
  const countFailure = (error: unknown): never => {
    failures++;
    throw error;
  };
  const before = (deadline = deadlineIn(workMs)): Deadline => deadline - ANSWER_MS;
  const query: Database['query'] = <Row>(sql: string, bindings: readonly Binding[], deadline?: Deadline) => {
    const end = before(deadline);
    const read = () => client.queryPrepared(sql, bindings, end) as Promise<Row[]>; // whoever wrote the statement knows its rows
    return withRetries(read, end, 'read');
  };
  return {
    knex,
    engine,
    connectionsMax,
    run(work, { idempotent, deadline } = {}) {
      const end = before(deadline);
      const attempt = () => withRetries(() => work(knex), end, idempotent ? 'idempotent' : 'write');
      const done = deadlines.run(end, attempt).catch(countFailure);
      return engine === 'sqlite' && deadline !== undefined ? untilDeadline(done, end) : done;
    },
    query,
    insert(into, rows, deadline) {
      const end = before(deadline);
      const add = (): Promise<Int64[]> =>
        client.mayChange(rows.length)
          ? deadlines.run(end, () => knex.transaction((transaction) => insertWithin(transaction, into, rows)))
          : (client.insertPrepared(into, rows, end) as Promise<Int64[]>); // ids of a bigint column
      return withRetries(add, end).catch(countFailure);
    },
    async ping() {
      const version = engine === 'mysql' ? 'version()' : 'sqlite_version()';
      const [row] = await query<{ version: string }>(`SELECT ${version} AS version`, [], undefined);
      return row?.version ?? 'unknown';
    },
    packetBytes: () => client.packetBytes(),
    roundTripMs: () => client.roundTripMs(),
    lateError,
    failures: () => failures,
    takesWrites: () => client.takesWrites(),
    poolState: () => client.poolState(),
    preload: () => client.preload(),
    close: () => knex.destroy(),
  };
}

function lateError(): DatabaseFault {
  const cause = Object.assign(new Error('the database did not answer in time'), { code: 'POOL_TIMEOUT' });
  return new DatabaseFault('unavailable', cause);
}

/** The result of `done`. DatabaseFault `unavailable` at the deadline; an UPDATE or DELETE that waits for a lock may still happen later. */
function untilDeadline<T>(done: Promise<T>, deadline: Deadline): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(lateError()), remainingMs(deadline));
  return Promise.race([done, late.promise]).finally(() => clearTimeout(timer));
}

/** Runs `work` in one transaction. Every `run` of the database `within` is part of it; its `query` and `insert` are refused. */
export function inTransaction<T>(database: Database, work: (within: Database) => Promise<T>): Promise<T> {
  const refuse = () => Promise.reject(new Error('It would have a connection of its own.'));
  const within = { ...database, query: refuse, insert: refuse };
  return database.run((knex) =>
    knex.transaction((transaction) => work({ ...within, run: async (part) => part(transaction) })),
  );
}

/** Throws Error when a transaction is over. Knex runs the callback of one even when BEGIN failed, and then refuses only its own queries. */
export function requireBegun(transaction: Knex.Transaction): void {
  if (transaction.isCompleted()) throw new Error('The transaction was not begun, or is over.');
}

/** Adds rows within a transaction, by one prepared INSERT; gives their ids in the order of the rows. */
export async function insertWithin(
  transaction: Knex.Transaction,
  into: Into,
  rows: readonly RowValues[],
): Promise<Int64[]> {
  const client: EngineClient & Knex.Client = transaction.client; // Knex types it as any
  const connection = await client.acquireConnection(); // the transaction's own
  requireBegun(transaction);
  return client.insertOn(connection, into, rows) as Promise<Int64[]>; // ids of a bigint column
}
