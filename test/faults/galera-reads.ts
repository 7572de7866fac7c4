/*
 * Reads at another member than the write's: node test/faults/galera-reads.ts (about two minutes) prints a table. Three members of Galera,
 * a gateway at each; every read goes to another gateway than the create that it must show. With the gateway's own wsrep_sync_wait,
 * and without: a proxy before each member takes it out.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { type Fault, runFault } from './fault-run.ts';
import { startGaleraCluster } from './galera-cluster.ts';
import { startGatewaysAtMembers } from './galera-gateways.ts';

const LOAD_MS = 8000;

const cluster = await startGaleraCluster();
try {
  const withoutWait = await Promise.all(cluster.ports.map(startProxy));
  const head = 'wsrep_sync_wait|what happens|requests|right|503|older than a 201|lost|doubled|slowest s'.split('|');
  for (const cells of [head, head.map(() => '---')]) console.log(`| ${cells.join(' | ')} |`);
  const nothing: Fault = { strike: () => delay(LOAD_MS) };
  const death: Fault = {
    strike: () => cluster.kill(1),
    afterwards: () => cluster.rejoin(1).then(() => delay(LOAD_MS)),
  };
  for (const [wait, what, ports, fault] of [
    ['1', 'nothing', cluster.ports, nothing],
    ['1', 'a member is killed -9 and comes back', cluster.ports, death],
    ['0', 'nothing', withoutWait, nothing],
  ] as const) {
    const gateways = await startGatewaysAtMembers(cluster, ports);
    const found = await runFault(gateways, fault);
    const { sent, right, unavailable, wrong, lost, doubled, slowestMs } = found;
    const counts = [sent, right, unavailable, wrong.length, lost.length, doubled.length];
    console.log(`| ${[wait, what, ...counts, (slowestMs / 1000).toFixed(2)].join(' | ')} |`);
    for (const story of wrong.slice(0, 2)) console.error(story);
    await gateways.remove();
  }
} finally {
  await cluster.remove();
}
process.exit(0);

/** The port of a way to `port` on which no session sets wsrep_sync_wait to 1. */
async function startProxy(port: number): Promise<number> {
  const proxy = await startTcpProxy(`mysql://root@127.0.0.1:${port}/petstore`);
  proxy.changeQuestions((bytes) => {
    const text = bytes.toString('latin1').replaceAll('wsrep_sync_wait = 1', 'wsrep_sync_wait = 0');
    return Buffer.from(text, 'latin1');
  });
  return proxy.port;
}
