import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { endWithUs } from './end-with-us.ts';
import { freePort } from './ports.ts';
import { findProgram, serverPath } from './tools.ts';

/** A private server of the MySQL protocol, in a temporary folder, on a free loopback port. */
export interface MysqlServer {
  readonly port: number;
  /** `mysql://root@127.0.0.1:PORT/mysql`, an account that may do everything. */
  readonly url: string;
  /** Sends a signal to the server process: SIGKILL, SIGSTOP, SIGCONT. */
  signal(signal: NodeJS.Signals): void;
  /** Starts it again on the same data and port, after a stop or a kill. */
  restart(): Promise<void>;
  /** Ends the server in good order; its data stays for a restart. */
  stop(): Promise<void>;
  /** Ends the server and removes its data. */
  remove(): Promise<void>;
}

// Both when the data is made and when it is served: a server makes a log of another size anew.
const LOG_SIZE = '--loose-innodb-log-file-size=16M';

// An acknowledged write outlives a killed server, not a power cut: that is all a test can see, and it is fast.
const SETTINGS = [
  LOG_SIZE,
  '--bind-address=127.0.0.1',
  '--innodb-flush-log-at-trx-commit=2',
  '--innodb-flush-method=nosync',
  '--innodb-doublewrite=0',
  '--loose-sync-frm=0',
  '--innodb-buffer-pool-size=64M',
  '--skip-log-bin',
  '--max-connections=500',
];

/** Makes the data of new servers in a folder, once for all of them; gives its path, which TEST_MYSQL_DATA hands on. */
export function prepareData(folder: string): string {
  const program = serverPath();
  if (program === undefined) throw new Error(NOT_INSTALLED);
  mkdirSync(folder);
  const data = join(folder, 'data');
  initialize(program, ['--no-defaults', `--datadir=${data}`, `--tmpdir=${folder}`, ...runAsRoot()]);
  return data;
}

const NOT_INSTALLED = 'neither mariadbd nor mysqld is installed';

/** Starts a private server; `args` are added to its command line. `program` is its path, by default that of TEST_MYSQLD or the installed one. */
export async function startMysqlServer(args: readonly string[] = [], program = serverPath()): Promise<MysqlServer> {
  if (program === undefined) throw new Error(NOT_INSTALLED);
  const folder = mkdtempSync(join(tmpdir(), 'petstore-mysql-'));
  const logFile = join(folder, 'server.log');
  // Two that begin at once would meet in the machine's own folder for temporary tables.
  const common = ['--no-defaults', `--datadir=${join(folder, 'data')}`, `--tmpdir=${folder}`, ...runAsRoot()];
  const port = await freePort();
  const own = [`--port=${port}`, `--socket=${join(folder, 'server.sock')}`, `--pid-file=${join(folder, 'server.pid')}`];
  const url = `mysql://root@127.0.0.1:${port}/mysql`;
  let child: ChildProcess | undefined;

  const launch = async () => {
    const log = openSync(logFile, 'a');
    // In a group of its own: Ctrl-C ends the tests, and the tests end the server.
    child = spawn(program, [...common, ...own, ...SETTINGS, ...args], { stdio: ['ignore', log, log], detached: true });
    closeSync(log);
    child.once('exit', endWithUs({ pid: child.pid, folder }));
    await answers(url, child, logFile);
  };
  const stop = async () => {
    if (child === undefined || hasEnded(child)) return;
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  const remove = async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  };

  try {
    const prepared = process.env.TEST_MYSQL_DATA;
    // MySQL takes this one only when it makes its data.
    const names = args.filter((arg) => arg.startsWith('--lower-case-table-names'));
    const isPrepared = prepared !== undefined && names.length === 0 && program === serverPath();
    if (isPrepared) cpSync(prepared, join(folder, 'data'), { recursive: true });
    else initialize(program, [...common, ...names]);
    await launch();
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    port,
    url,
    signal: (signal) => child?.kill(signal),
    async restart() {
      if (child && !hasEnded(child)) await once(child, 'exit');
      await launch();
    },
    stop,
    remove,
  };
}

/** Ends the sessions of an account, by their numbers: MySQL has no KILL USER. */
export async function killSessions(root: mysql.Connection, user: string): Promise<void> {
  const [rows] = await root.query<mysql.RowDataPacket[]>(
    'SELECT id AS id FROM information_schema.processlist WHERE user = ?',
    [user],
  );
  for (const { id } of rows) await root.query(`KILL ${id}`).catch(() => {}); // gone by itself meanwhile
}

function initialize(program: string, common: readonly string[]): void {
  const installer = findProgram('mariadb-install-db');
  const isMaria = execFileSync(program, ['--no-defaults', '--version'], { encoding: 'utf8' }).includes('MariaDB');
  if (isMaria && installer) {
    const accounts = ['--auth-root-authentication-method=normal', '--skip-test-db'];
    execFileSync(installer, [...common, LOG_SIZE, ...accounts], { stdio: 'pipe' });
  } else {
    execFileSync(program, [...common, LOG_SIZE, '--initialize-insecure'], { stdio: 'pipe' });
  }
}

/** Servers refuse to run as root until told so. */
function runAsRoot(): string[] {
  return process.getuid?.() === 0 ? ['--user=root'] : [];
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function answers(url: string, child: ChildProcess, logFile: string): Promise<void> {
  for (const deadline = Date.now() + 60_000; ; ) {
    try {
      const connection = await mysql.createConnection(url);
      return await connection.end();
    } catch (error) {
      if (hasEnded(child)) throw new Error(`the server ended:\n${readFileSync(logFile, 'utf8')}`, { cause: error });
      if (Date.now() > deadline) throw error;
      await delay(50);
    }
  }
}
