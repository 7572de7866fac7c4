import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { afterFile } from '../support/engines.ts';
import { eventually } from '../support/load.ts';
import { openDatabase } from '../support/prepared.ts';
import { RETRY_LATE } from '../support/stall-clock.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { has } from '../support/tools.ts';
import { expectAgreement, expectPromisesKept } from './expect-promises.ts';
import { runFault } from './fault-run.ts';
import { type GaleraCluster, startGaleraCluster } from './galera-cluster.ts';
import { GALERA_FAULTS } from './galera-faults.ts';
import { startGatewaysAtMembers } from './galera-gateways.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';

describe.runIf(has('database', 'galera'))('a Galera cluster of three nodes', () => {
  let cluster: GaleraCluster;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    cluster = await startGaleraCluster();
    afterFile(cluster.remove);
    gateway = await startGatewayProcess(cluster.url);
  }, 300_000);

  test.each(GALERA_FAULTS)(
    '$name: nothing wrong, lost or doubled, and the nodes agree',
    RETRY_LATE,
    async ({ fault }) => {
      const report = await runFault(gateway, fault(cluster));
      expectPromisesKept(report);
      // It was met: by a refusal, or by a request that was tried again until the second was over.
      expect(report.unavailable > 0 || report.longestMs > 500).toBe(true);
      await expectAgreement(cluster);
    },
  );

  test('a member that refuses queries (1047) is left for another one, though it takes connections', async () => {
    const database = await openDatabase(cluster.url);
    const port = async () => {
      const sql = 'SELECT @@port AS port, COUNT(*) FROM pets'; // a refusing member reads no table, and answers all else
      const [row] = await database.query<{ port: number }>(sql, [], undefined);
      return row?.port;
    };
    const refusing = Number(await port());
    await cluster.refuseAt(refusing, true);
    const another = () => port().catch(() => refusing);
    await eventually(async () => (await another()) !== refusing, 10_000, 'another one is asked');
    await cluster.refuseAt(refusing, false);
    expect(cluster.ports).toContain(await port());
  });

  test(
    'behind one address that leads to any node: nothing wrong, lost, doubled or older than a 201',
    RETRY_LATE,
    async () => {
      const proxy = await startTcpProxy(`mysql://root@127.0.0.1:${cluster.ports[0]}/petstore`);
      proxy.spread(cluster.ports);
      const behind = await startGatewayProcess(proxy.url);
      expectPromisesKept(await runFault(behind, { strike: () => cluster.refuseFor(500) }));
    },
  );

  test('with a gateway at each member, reads through another one than the write: nothing old, wrong, lost or doubled', {
    ...RETRY_LATE,
    timeout: 300_000,
  }, async () => {
    const gateways = await startGatewaysAtMembers(cluster, cluster.ports);
    expectPromisesKept(await runFault(gateways, { strike: () => delay(2000) }));
    // The second member, whose gateway then leads to the third.
    const fault = { strike: () => cluster.kill(1), afterwards: () => cluster.rejoin(1) };
    expectPromisesKept(await runFault(gateways, fault));
    await expectAgreement(cluster);
  });
});
