import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type mysql from 'mysql2/promise';
import { endWithUs } from '../support/end-with-us.ts';
import { eventually } from '../support/load.ts';
import { freePort } from '../support/ports.ts';
import { GALERA } from '../support/tools.ts';
import type { StoredPet } from './ledger.ts';
import { query, storedAt } from './members.ts';

const SERVER = '/usr/sbin/mariadbd';

/** A three-node Galera cluster of private MariaDB servers on loopback. */
export interface GaleraCluster {
  /** `mysql://root@a,b,c/petstore` */
  readonly url: string;
  /** Of the nodes. */
  readonly ports: readonly number[];
  kill(node: number): Promise<void>;
  /** Starts a killed node again; resolves when it is a synced member. */
  rejoin(node: number): Promise<void>;
  /** Lets the node of a port refuse queries (error 1047), or answer them again; it stays a member. */
  refuseAt(port: number, isRefusing: boolean): Promise<unknown>;
  /** Lets all nodes refuse queries for some time, as they do while they have lost each other. */
  refuseFor(ms: number): Promise<void>;
  /** The animals of each node, once it has all that the others have. */
  contents(): Promise<StoredPet[][]>;
  remove(): Promise<void>;
}

interface Node {
  readonly folder: string;
  readonly port: number;
  readonly groupPort: number;
  readonly transferPorts: readonly [number, number];
  child?: ChildProcess;
}

/** Starts the cluster; a start that fails leaves nothing behind. */
export async function startGaleraCluster(): Promise<GaleraCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-galera-'));
  const dismiss = endWithUs({ folder });
  chmodSync(folder, 0o755);
  const nodes: Node[] = [];
  const members = () => `gcomm://${nodes.map(({ groupPort }) => `127.0.0.1:${groupPort}`).join(',')}`;
  const nodeAt = (index: number): Node => {
    const node = nodes[index];
    if (!node) throw new Error(`there is no node ${index}`);
    return node;
  };
  const remove = async () => {
    await Promise.all(nodes.map(killNode));
    rmSync(folder, { recursive: true, force: true });
    dismiss();
  };
  try {
    for (const name of ['a', 'b', 'c']) nodes.push(await prepare(join(folder, name)));
    initialize(nodeAt(0)); // the others are filled by the first
    for (const [index, node] of nodes.entries()) await launch(node, index === 0 ? 'gcomm://' : members());
    await query(nodeAt(0).port, 'CREATE DATABASE petstore');
  } catch (error) {
    await remove();
    throw error;
  }
  const ports = nodes.map(({ port }) => port);
  const refuseAt = (port: number, isRefusing: boolean) =>
    query(port, `SET GLOBAL wsrep_reject_queries = ${isRefusing ? 'ALL' : 'NONE'}`);
  return {
    url: `mysql://root@${ports.map((port) => `127.0.0.1:${port}`).join(',')}/petstore`,
    ports,
    kill: (index) => killNode(nodeAt(index)),
    rejoin: (index) => launch(nodeAt(index), members()),
    refuseAt,
    async refuseFor(ms) {
      await Promise.all(ports.map((port) => refuseAt(port, true)));
      await delay(ms);
      await Promise.all(ports.map((port) => refuseAt(port, false)));
    },
    contents: () => storedAt(ports, 'SET SESSION wsrep_sync_wait = 1'),
    remove,
  };
}

async function killNode({ child }: Node): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function prepare(folder: string): Promise<Node> {
  mkdirSync(join(folder, 'data'), { recursive: true });
  if (isRoot()) {
    const mysqlUser = Number(execFileSync('id', ['-u', 'mysql'], { encoding: 'utf8' }));
    for (const path of [folder, join(folder, 'data')]) chownSync(path, mysqlUser, mysqlUser);
  }
  return {
    folder,
    port: await freePort(),
    groupPort: await freePort(),
    transferPorts: [await freePort(), await freePort()],
  };
}

function initialize({ folder }: Node): void {
  const accounts = ['--auth-root-authentication-method=normal', '--skip-test-db'];
  execFileSync('mariadb-install-db', [...common(folder), ...accounts], { stdio: 'pipe' });
}

/** The start of every command line: --no-defaults is read only where it comes first. */
function common(folder: string): string[] {
  // rsync gives up root's rights when it receives: the servers run as the user that owns their files.
  const user = isRoot() ? ['--user=mysql'] : [];
  return ['--no-defaults', ...user, `--datadir=${folder}/data`, `--tmpdir=${folder}`];
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

async function launch(node: Node, clusterAddress: string): Promise<void> {
  const { folder, port, groupPort, transferPorts } = node;
  // The group's own timeouts stay as they are: with shorter ones, nodes that merely lack CPU lose each other.
  const provider = [
    `gmcast.listen_addr=tcp://127.0.0.1:${groupPort}`,
    `ist.recv_addr=127.0.0.1:${transferPorts[1]}`,
    'gcache.size=32M',
  ];
  const child = spawn(
    SERVER,
    [
      ...common(folder),
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      `--socket=${folder}/server.sock`,
      `--pid-file=${folder}/server.pid`,
      `--log-error=${folder}/server.log`,
      '--binlog-format=ROW',
      '--innodb-autoinc-lock-mode=2',
      '--innodb-flush-log-at-trx-commit=2', // as in mysql-server.ts: nobody pulls the plug here
      '--innodb-buffer-pool-size=64M',
      '--max-connections=300',
      '--wsrep-on=ON',
      `--wsrep-provider=${GALERA}`,
      '--wsrep-cluster-name=petstore-test',
      `--wsrep-cluster-address=${clusterAddress}`,
      '--wsrep-node-address=127.0.0.1',
      '--wsrep-sst-method=rsync',
      `--wsrep-sst-receive-address=127.0.0.1:${transferPorts[0]}`,
      `--wsrep-provider-options=${provider.join(';')}`,
    ],
    { stdio: 'ignore', detached: true },
  );
  child.once('exit', endWithUs({ pid: child.pid }));
  node.child = child;
  await synced(node);
}

async function synced({ port, child, folder }: Node): Promise<void> {
  const isSynced = async () => {
    if (typeof child?.exitCode === 'number') throw new Error(readFileSync(`${folder}/server.log`, 'utf8').slice(-1500));
    const sql = "SHOW STATUS LIKE 'wsrep_local_state_comment'";
    const [row] = await query<mysql.RowDataPacket[]>(port, sql).catch(() => []);
    return row?.Value === 'Synced';
  };
  await eventually(isSynced, 90_000, `the node on port ${port} is a member`);
}
