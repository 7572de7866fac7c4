import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { PETS_COUNT, seededPet } from './pets.ts';
import { freePort, inTemporaryFolder, isRunning, runCommand, start, stop, temporaryFolder } from './processes.ts';

/** A database of the benchmark's own, with animals and a key. */
export interface BenchDatabase {
  readonly url: string;
  /** A valid API key. */
  readonly key: string;
  /** The name of the server's program, and its version. */
  readonly version: string;
  readonly pid: number;
  /** Of an account that may do everything. */
  readonly connection: Connection;
  /** Takes away all that was added to the animals. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** Dropped at first and at last: no name that a user of the product has. */
const NAME = 'petstore_bench';
const START_LIMIT_MS = 60_000;
const ROWS_PER_INSERT = 5000;

/** Starts a private MariaDB, lets the commands of the checkout `root` make tables and a key, and seeds the animals. */
export async function startDatabase(root?: string): Promise<BenchDatabase> {
  const folder = temporaryFolder();
  const port = await freePort();
  const shared = ['--no-defaults', `--datadir=${folder}/data`, ...(process.getuid?.() === 0 ? ['--user=root'] : [])];
  const install = spawnSync('mariadb-install-db', [...shared, '--auth-root-authentication-method=normal'], {
    encoding: 'utf8',
  });
  if (install.status !== 0) {
    throw new Error(
      install.error ? 'No MariaDB here: install mariadb-server.' : `mariadb-install-db: ${install.stderr}`,
    );
  }
  const server = start(
    [
      'mariadbd',
      ...shared,
      `--socket=${folder}/socket`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      '--innodb-buffer-pool-size=512M', // all animals stay in memory: the disk is for commits
      '--innodb-flush-log-at-trx-commit=1', // a create is on the disk before it is answered
    ],
    { stdio: 'ignore', env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` } },
  );
  const connection = await connectWhenReady(port, () => isRunning(server));
  const url = `mysql://root@127.0.0.1:${port}/`;
  const database = await prepare(connection, url, server.pid ?? 0, () => stop(server), root);
  return { ...database, version: inTemporaryFolder(database.version) };
}

/** A database on the server of `url`, `mysql://root@127.0.0.1:PORT/`, which runs on this machine; dropped when it is closed. */
export async function useServer(url: string): Promise<BenchDatabase> {
  const connection = await createConnection(`${url}mysql`);
  // Before anything is dropped: a server of another machine has no such file here.
  const [[row]] = await connection.query<(RowDataPacket & { file: string })[]>('SELECT @@pid_file AS file');
  const pid = Number(readFileSync(row?.file ?? '', 'utf8'));
  return prepare(connection, url, pid, async () => {});
}

async function prepare(
  connection: Connection,
  serverUrl: string,
  pid: number,
  end: () => Promise<void>,
  root?: string,
): Promise<BenchDatabase> {
  await connection.query(`DROP DATABASE IF EXISTS ${NAME}`);
  await connection.query(`CREATE DATABASE ${NAME} CHARACTER SET utf8mb4`);
  await connection.query(`USE ${NAME}`);
  const url = serverUrl + NAME;
  runCommand('src/cli/migrate.ts', [], url, root);
  await seed(connection);
  const [[row]] = await connection.query<(RowDataPacket & { version: string })[]>('SELECT version() AS version');
  const version = row?.version ?? '';
  return {
    url,
    key: runCommand('src/cli/keys.ts', ['create', '--name', 'bench'], url, root),
    version: `${/mariadb/i.test(version) ? 'MariaDB' : 'MySQL'} ${version}`,
    pid,
    connection,
    restore: () => seed(connection),
    async close() {
      await connection.query(`DROP DATABASE ${NAME}`);
      await connection.end();
      await end();
    },
  };
}

async function connectWhenReady(port: number, isAlive: () => boolean): Promise<Connection> {
  for (const deadline = Date.now() + START_LIMIT_MS; ; ) {
    try {
      return await createConnection({ host: '127.0.0.1', port, user: 'root' });
    } catch (error) {
      if (!isAlive()) throw new Error('mariadbd ended before it answered.', { cause: error });
      if (Date.now() > deadline) throw error;
      await delay(100);
    }
  }
}

async function seed(connection: Connection): Promise<void> {
  await connection.query('TRUNCATE TABLE pets');
  for (let first = 1; first <= PETS_COUNT; first += ROWS_PER_INSERT) {
    const rows = Array.from({ length: ROWS_PER_INSERT }, (_, offset) => {
      const { id, name, categoryId, status } = seededPet(first + offset);
      return [id, name, categoryId, status];
    });
    await connection.query('INSERT INTO pets (id, name, category_id, status) VALUES ?', [rows]);
  }
  await connection.query('ANALYZE TABLE pets');
}
