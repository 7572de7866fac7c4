import { join } from 'node:path';
import { test } from 'vitest';
import { temporaryFolder } from '../support/engines.ts';
import { RETRY_LATE } from '../support/stall-clock.ts';
import { expectHealed, expectPromisesKept } from './expect-promises.ts';
import { runFault } from './fault-run.ts';
import { startGatewayProcess } from './gateway-process.ts';
import { SQLITE_FAULTS } from './sqlite-faults.ts';

test.each(SQLITE_FAULTS)(
  'SQLite, $name: right or 503 within 5 s, nothing lost or doubled',
  RETRY_LATE,
  async ({ fault }) => {
    const path = join(temporaryFolder(), 'pets.db');
    const gateway = await startGatewayProcess(`sqlite:${path}`);
    const report = await runFault(gateway, fault(path, gateway));
    await gateway.kill();
    expectPromisesKept(report);
    expectHealed(report);
  },
);
