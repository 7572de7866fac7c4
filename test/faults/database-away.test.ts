import { beforeAll, describe, test } from 'vitest';
import { afterFile } from '../support/engines.ts';
import { type MysqlServer, startMysqlServer } from '../support/mysql-server.ts';
import { RETRY_LATE } from '../support/stall-clock.ts';
import { has } from '../support/tools.ts';
import { expectHealed, expectPromisesKept } from './expect-promises.ts';
import { runFault } from './fault-run.ts';
import { startGatewayProcess } from './gateway-process.ts';
import { freshDatabase, SERVER_FAULTS } from './server-faults.ts';

describe.runIf(has('database'))('faults during mixed load', () => {
  let server: MysqlServer;

  beforeAll(async () => {
    server = await startMysqlServer();
    afterFile(server.remove);
  });

  test.each(SERVER_FAULTS)(
    '$name: right or 503 within 5 s, nothing lost or doubled',
    RETRY_LATE,
    async ({ fault, poolMax, before }) => {
      const gateway = await startGatewayProcess(await freshDatabase(server, before), poolMax);
      const report = await runFault(gateway, fault(server));
      await gateway.kill();
      expectPromisesKept(report);
      expectHealed(report);
    },
  );
});
