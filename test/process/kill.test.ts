import { expect, test } from 'vitest';
import { expectHealed, expectPromisesKept } from '../faults/expect-promises.ts';
import { runFault } from '../faults/fault-run.ts';
import { startGatewayProcess } from '../faults/gateway-process.ts';
import { lasting } from '../faults/server-faults.ts';
import { describeEachEngine } from '../support/engines.ts';
import { RETRY_LATE } from '../support/stall-clock.ts';

describeEachEngine('kill -9 during a mixed load, twice', (engine) => {
  test(
    'every acknowledged animal is there once; with Idempotency-Key and retries each is there exactly once',
    RETRY_LATE,
    async () => {
      const gateway = await startGatewayProcess(await engine.freshDatabase());
      const { strike } = lasting(gateway.kill, gateway.restart, 0);
      const report = await runFault({ ...gateway, gatewayDies: true }, { strike, afterwards: strike });
      await gateway.kill();
      expectPromisesKept(report);
      expectHealed(report);
      expect(report.cut).toBeGreaterThan(0);
    },
  );
});
