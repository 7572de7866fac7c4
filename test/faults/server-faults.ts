import { setTimeout as delay } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { killSessions, type MysqlServer } from '../support/mysql-server.ts';
import type { Fault } from './fault-run.ts';

const FAULT_MS = 2000;
/** Longer than a query and a wait for the pool may take. */
const LONG_FAULT_MS = 3000;
const KILL_EVERY_MS = 50;
const REBUILD = 'ALTER TABLE petstore.pets ENGINE = InnoDB, ALGORITHM = COPY';

/** The account of the gateway: not root, for only others are stopped by read_only. */
const APP = 'app';

/** What a server of the MySQL protocol may do to us. */
export interface ServerFault {
  readonly name: string;
  readonly poolMax?: number;
  /** What root says to the server before the gateway makes its tables. */
  readonly before?: readonly string[];
  fault(server: MysqlServer): Fault;
}

/** What lasts for some time. */
export function lasting(begin: () => unknown, end: () => unknown, ms = FAULT_MS): Fault {
  return {
    async strike() {
      await begin();
      await delay(ms);
      await end();
    },
  };
}

/**
 * What operations do to a server while it serves: a statement that begins it, and one that ends it. What is true of new sessions
 * only is true of those there are, too, `after` their connections are killed.
 */
const operation = (name: string, begin: string, end: string, after?: typeof killConnections): ServerFault => ({
  name,
  fault: ({ url }) =>
    lasting(
      () => asRoot(url, begin).then(() => after?.(url)),
      () => asRoot(url, end),
    ),
});

export const SERVER_FAULTS: readonly ServerFault[] = [
  { name: 'none', fault: () => ({ strike: () => delay(FAULT_MS) }) },
  {
    name: 'server killed -9, restarted',
    fault: ({ signal, restart }) => lasting(() => signal('SIGKILL'), restart),
  },
  { name: 'server stopped, restarted', fault: ({ stop, restart }) => lasting(stop, restart) },
  {
    name: 'server hangs 3 s',
    fault: ({ signal }) =>
      lasting(
        () => signal('SIGSTOP'),
        () => signal('SIGCONT'),
        LONG_FAULT_MS,
      ),
  },
  operation('server read-only 2 s', 'SET GLOBAL read_only = 1', 'SET GLOBAL read_only = 0'),
  {
    name: 'connections killed, again and again for 2 s',
    fault: ({ url }) => ({
      async strike() {
        for (const end = performance.now() + FAULT_MS; performance.now() < end; await delay(KILL_EVERY_MS))
          await killConnections(url);
      },
    }),
  },
  {
    name: 'pool of 4 exhausted: table locked 3 s',
    poolMax: 4,
    fault: ({ url }) => ({
      strike: () => asRoot(url, 'LOCK TABLES petstore.pets WRITE', `DO SLEEP(${LONG_FAULT_MS / 1000})`),
    }),
  },
  operation(
    'account locked 2 s',
    `ALTER USER ${APP} ACCOUNT LOCK`,
    `ALTER USER ${APP} ACCOUNT UNLOCK`,
    killConnections,
  ),
  operation(
    'password expired 2 s',
    `ALTER USER ${APP} PASSWORD EXPIRE`,
    `ALTER USER ${APP} IDENTIFIED BY '' PASSWORD EXPIRE NEVER`,
    killConnections,
  ),
  operation(
    'INSERT revoked 2 s',
    `REVOKE INSERT ON petstore.* FROM ${APP}`,
    `GRANT INSERT ON petstore.* TO ${APP}`,
    killConnections,
  ),
  operation(
    'SELECT revoked 2 s',
    `REVOKE SELECT ON petstore.* FROM ${APP}`,
    `GRANT SELECT ON petstore.* TO ${APP}`,
    killConnections,
  ),
  operation(
    'table renamed, back after 2 s',
    'RENAME TABLE petstore.pets TO petstore.pets_away',
    'RENAME TABLE petstore.pets_away TO petstore.pets',
  ),
  operation('table rebuilt twice', REBUILD, REBUILD),
  operation(
    'no prepared statement left for 2 s',
    'SET GLOBAL max_prepared_stmt_count = 0',
    'SET GLOBAL max_prepared_stmt_count = 16382',
    killConnections,
  ),
  operation(
    'new sessions are made to speak latin1',
    `SET GLOBAL init_connect = 'SET NAMES latin1'`,
    `SET GLOBAL init_connect = ''`,
    killConnections,
  ),
  {
    ...operation('tables are MyISAM by default', 'DO 0', 'SET GLOBAL default_storage_engine = InnoDB', killConnections),
    before: ['SET GLOBAL default_storage_engine = MyISAM'],
  },
];

/** Gives the server an empty database and an account, as a DATABASE_URL. */
export async function freshDatabase({ url, port }: MysqlServer, before: readonly string[] = []): Promise<string> {
  await asRoot(
    url,
    ...before,
    'DROP DATABASE IF EXISTS petstore',
    'CREATE DATABASE petstore',
    `CREATE USER IF NOT EXISTS '${APP}'@'%'`,
    `GRANT ALL ON petstore.* TO '${APP}'@'%'`,
  );
  return `mysql://${APP}@127.0.0.1:${port}/petstore`;
}

/** Runs statements on a connection of their own, which ends with them and gives up its locks. */
async function asRoot(url: string, ...statements: string[]): Promise<void> {
  const connection = await mysql.createConnection(url);
  for (const statement of statements) await connection.query(statement);
  await connection.end();
}

async function killConnections(url: string): Promise<void> {
  const connection = await mysql.createConnection(url);
  await killSessions(connection, APP);
  await connection.end();
}
