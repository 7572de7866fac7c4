/*
 * The faults as one Markdown table: node test/faults/fault-table.ts [PROGRAM ...] (about five minutes). Each row is a
 * gateway under a mixed load of eight clients while something fails; see mixed-load.ts. It runs on the installed server,
 * on those of the named programs, on a Galera cluster where Galera is installed, on Group Replication where its program is
 * there (group-cluster.ts), and on SQLite.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMysqlServer } from '../support/mysql-server.ts';
import { has } from '../support/tools.ts';
import { type Fault, type FaultResult, runFault } from './fault-run.ts';
import { startGaleraCluster } from './galera-cluster.ts';
import { GALERA_FAULTS } from './galera-faults.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';
import { hasGroup, startGroupCluster } from './group-cluster.ts';
import { GROUP_FAULTS } from './group-faults.ts';
import { freshDatabase, lasting, SERVER_FAULTS } from './server-faults.ts';
import { SQLITE_FAULTS } from './sqlite-faults.ts';

/** For how long the rate before a fault is measured, in ms. */
const MEASURE_MS = 1000;

let isClean = true;
const HEAD = 'engine|fault|right/s before|sent|right|503|cut|wrong|lost|doubled|slowest s|heals in s'.split('|');
print(...HEAD);
print(...HEAD.map(() => '---'));
for (const program of [undefined, ...process.argv.slice(2)]) await runServer(program);
if (has('galera')) await runGalera();
if (hasGroup()) await runGroup();
await runSqlite();
process.exit(isClean ? 0 : 1);

async function runServer(program: string | undefined): Promise<void> {
  const server = await startMysqlServer([], program);
  try {
    const engine = program ? 'MySQL' : 'MariaDB';
    for (const { name, poolMax, before, fault } of SERVER_FAULTS) {
      const gateway = await startGatewayProcess(await freshDatabase(server, before), poolMax);
      await run(engine, name, gateway, fault(server));
    }
    await runKilled(engine, await freshDatabase(server));
  } finally {
    await server.remove();
  }
}

async function runGalera(): Promise<void> {
  const cluster = await startGaleraCluster();
  try {
    for (const { name, fault } of GALERA_FAULTS) {
      await run('Galera, 3 nodes', name, await startGatewayProcess(cluster.url), fault(cluster));
    }
  } finally {
    await cluster.remove();
  }
}

async function runGroup(): Promise<void> {
  const cluster = await startGroupCluster();
  try {
    for (const { name, primary, strike } of GROUP_FAULTS) {
      const gateway = await startGatewayProcess(await cluster.url(primary));
      await run('Group Replication, 3 members', name, gateway, { strike: cluster[strike] });
    }
  } finally {
    await cluster.remove();
  }
}

async function runSqlite(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-faults-'));
  try {
    for (const [index, { name, fault }] of SQLITE_FAULTS.entries()) {
      const path = join(folder, `${index}.db`);
      const gateway = await startGatewayProcess(`sqlite:${path}`);
      await run('SQLite', name, gateway, fault(path, gateway));
    }
    await runKilled('SQLite', `sqlite:${join(folder, 'killed.db')}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runKilled(engine: string, databaseUrl: string): Promise<void> {
  const gateway = await startGatewayProcess(databaseUrl);
  await run(engine, 'gateway killed -9, restarted', gateway, lasting(gateway.kill, gateway.restart, 0), true);
}

async function run(engine: string, name: string, gateway: GatewayProcess, fault: Fault, gatewayDies = false) {
  try {
    const result = await runFault({ ...gateway, gatewayDies }, fault, MEASURE_MS);
    const { wrong, lost, doubled } = result;
    isClean &&= wrong.length + lost.length + doubled.length === 0;
    print(engine, name, ...figures(result));
    for (const story of [...wrong, ...lost, ...doubled].slice(0, 5)) console.error(story);
  } finally {
    await gateway.kill();
  }
}

function figures({ loadHeld, sent, right, unavailable, cut, wrong, lost, doubled, slowestMs, healMs }: FaultResult) {
  const counts = [loadHeld, sent, right, unavailable, cut, wrong.length, lost.length, doubled.length];
  return [...counts, ...[slowestMs, healMs].map((ms) => (ms / 1000).toFixed(2))];
}

function print(...cells: readonly (string | number)[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}
