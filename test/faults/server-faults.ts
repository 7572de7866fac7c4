import { setTimeout as delay } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import type { MysqlServer } from '../support/mysql-server.ts';
import type { Fault } from './fault-run.ts';
import type { GatewayProcess } from './gateway-process.ts';

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
  /** Whether requests may end without an answer, because the gateway itself dies. */
  readonly gatewayDies?: boolean;
  readonly poolMax?: number;
  /** What root says to the server before the gateway makes its tables. */
  readonly before?: readonly string[];
  fault(server: MysqlServer, gateway: GatewayProcess): Fault;
}

/** What operations do to a server while it serves: statements that begin it, and those that end it. */
function operation(
  name: string,
  begin: readonly string[],
  end: readonly string[],
  {
    before = [],
    afterBegin = async () => {},
  }: { before?: readonly string[]; afterBegin?: typeof killConnections } = {},
): ServerFault {
  return {
    name,
    before,
    fault: ({ url }) => ({
      async strike() {
        await asRoot(url, ...begin);
        await afterBegin(url);
        await delay(FAULT_MS);
        await asRoot(url, ...end);
      },
    }),
  };
}

/** What is true of new sessions only, and of those there are when their connections are killed. */
const NEW_SESSIONS = { afterBegin: killConnections };

/** The gateway is killed in the middle of the load and started again; the same on every engine. */
export const GATEWAY_KILLED = {
  name: 'gateway killed -9, restarted',
  gatewayDies: true,
  fault: (_server: unknown, gateway: GatewayProcess): Fault => ({
    async strike() {
      await gateway.kill();
      await gateway.restart();
    },
  }),
};

export const SERVER_FAULTS: readonly ServerFault[] = [
  { name: 'none', fault: () => ({ strike: () => delay(FAULT_MS) }) },
  {
    name: 'server killed -9, restarted',
    fault: (server) => ({
      async strike() {
        server.signal('SIGKILL');
        await delay(FAULT_MS);
        await server.restart();
      },
    }),
  },
  {
    name: 'server stopped, restarted',
    fault: (server) => ({
      async strike() {
        await server.stop();
        await delay(FAULT_MS);
        await server.restart();
      },
    }),
  },
  {
    name: 'server hangs 3 s',
    fault: (server) => ({
      async strike() {
        server.signal('SIGSTOP');
        await delay(LONG_FAULT_MS);
        server.signal('SIGCONT');
      },
    }),
  },
  {
    name: 'server read-only 2 s',
    fault: ({ url }) => ({
      async strike() {
        await asRoot(url, 'SET GLOBAL read_only = 1');
        await delay(FAULT_MS);
        await asRoot(url, 'SET GLOBAL read_only = 0');
      },
    }),
  },
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
    [`ALTER USER ${APP} ACCOUNT LOCK`],
    [`ALTER USER ${APP} ACCOUNT UNLOCK`],
    NEW_SESSIONS,
  ),
  operation(
    'password expired 2 s',
    [`ALTER USER ${APP} PASSWORD EXPIRE`],
    [`ALTER USER ${APP} IDENTIFIED BY '' PASSWORD EXPIRE NEVER`],
    NEW_SESSIONS,
  ),
  operation(
    'INSERT revoked 2 s',
    [`REVOKE INSERT ON petstore.* FROM ${APP}`],
    [`GRANT INSERT ON petstore.* TO ${APP}`],
    NEW_SESSIONS,
  ),
  operation(
    'SELECT revoked 2 s',
    [`REVOKE SELECT ON petstore.* FROM ${APP}`],
    [`GRANT SELECT ON petstore.* TO ${APP}`],
    NEW_SESSIONS,
  ),
  operation(
    'table renamed, back after 2 s',
    ['RENAME TABLE petstore.pets TO petstore.pets_away'],
    ['RENAME TABLE petstore.pets_away TO petstore.pets'],
  ),
  operation('table rebuilt twice', [REBUILD], [REBUILD]),
  operation(
    'no prepared statement left for 2 s',
    ['SET GLOBAL max_prepared_stmt_count = 0'],
    ['SET GLOBAL max_prepared_stmt_count = 16382'],
    NEW_SESSIONS,
  ),
  operation(
    'new sessions are made to speak latin1',
    [`SET GLOBAL init_connect = 'SET NAMES latin1'`],
    [`SET GLOBAL init_connect = ''`],
    NEW_SESSIONS,
  ),
  operation('tables are MyISAM by default', [], [`SET GLOBAL default_storage_engine = InnoDB`], {
    before: ['SET GLOBAL default_storage_engine = MyISAM'],
    afterBegin: killConnections,
  }),
  GATEWAY_KILLED,
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

/** By their numbers: MySQL has no KILL USER. */
async function killConnections(url: string): Promise<void> {
  const connection = await mysql.createConnection(url);
  const [rows] = await connection.query<mysql.RowDataPacket[]>(
    'SELECT id FROM information_schema.processlist WHERE user = ?',
    [APP],
  );
  for (const { id, ID = id } of rows) await connection.query(`KILL ${ID}`).catch(() => {}); // gone by itself meanwhile
  await connection.end();
}
