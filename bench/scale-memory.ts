import { setTimeout as delay } from 'node:timers/promises';
import { toWireRequest } from './check.ts';
import { CONTENDERS } from './contenders.ts';
import type { BenchDatabase } from './database.ts';
import { rest } from './dialects.ts';
import { openConnection, runLoad } from './load.ts';
import { memoryMiB, runCommand } from './processes.ts';
import { OPERATIONS, requestsOf } from './scale-operations.ts';
import { startServer } from './server.ts';

const CONNECTIONS = 1000;
/** One key has only a share of a process. */
const KEYS = 10;
const SETTLE_MS = 2000;
const SECONDS = 4;

/** MiB of the gateway's process: warm, with 1,000 idle connections more, and with 1,000 that ask all the time. */
export async function measureMemory(database: BenchDatabase) {
  const [[gateway], [operation]] = [CONTENDERS, OPERATIONS];
  if (!gateway || !operation) throw new Error('The gateway is the first contender, and there are operations.');
  const keys = Array.from({ length: KEYS }, (_, index) =>
    runCommand('src/cli/keys.ts', ['create', '--name', `scale ${index}`], database.url),
  );
  const probe = toWireRequest({ kind: 'get', id: 1 }, rest, database.key);
  const server = await startServer(gateway, database.url, probe);
  try {
    const byKey = keys.map((key) => requestsOf(operation, key));
    const requests = (byKey[0] ?? []).flatMap((_, index) => byKey.map((of) => of[index] ?? probe));
    await runLoad(server.port, requests, 32, SECONDS);
    await delay(SETTLE_MS);
    const warm = memoryMiB(server.pid);
    const idle = [];
    for (let index = 0; index < CONNECTIONS; index++) {
      const connection = await openConnection(server.port);
      await connection.ask(probe.bytes);
      idle.push(connection);
    }
    await delay(SETTLE_MS);
    const withIdle = memoryMiB(server.pid);
    for (const connection of idle) connection.close();
    const load = await runLoad(server.port, requests, CONNECTIONS, SECONDS);
    return { warm, withIdle, busyPeak: server.peakMemoryMiB(), busyPerSecond: load.count / load.seconds };
  } finally {
    await server.stop();
  }
}
