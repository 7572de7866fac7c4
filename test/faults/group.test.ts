import { beforeAll, describe, test } from 'vitest';
import { afterFile } from '../support/engines.ts';
import { noteLeftOut, unwantedTools } from '../support/tools.ts';
import { expectAgreement, expectHealed, expectPromisesKept } from './expect-promises.ts';
import { runFault } from './fault-run.ts';
import { startGatewayProcess } from './gateway-process.ts';
import { type GroupCluster, hasGroup, startGroupCluster } from './group-cluster.ts';
import { GROUP_FAULTS } from './group-faults.ts';

const isWanted = !unwantedTools().includes('database');
if (isWanted && !hasGroup()) noteLeftOut('MySQL Group Replication', 'its program beside the repository');

describe.runIf(isWanted && hasGroup())('MySQL Group Replication, three members', () => {
  let cluster: GroupCluster;

  beforeAll(async () => {
    cluster = await startGroupCluster();
    afterFile(cluster.remove);
  }, 600_000); // a fresh machine downloads the servers

  test.each(GROUP_FAULTS)(
    '$name: nothing wrong, lost or doubled, healed, and the members agree',
    async ({ primary, strike }) => {
      const gateway = await startGatewayProcess(await cluster.url(primary));
      const report = await runFault(gateway, { strike: cluster[strike] });
      await gateway.kill();
      expectPromisesKept(report);
      expectHealed(report);
      await expectAgreement(cluster);
    },
    240_000,
  );
});
