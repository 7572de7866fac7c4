import { execFileSync } from 'node:child_process';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './fault-run.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { lasting } from './server-faults.ts';

const FAULT_MS = 3000;

/** What may happen to an embedded file. */
interface SqliteFault {
  readonly name: string;
  fault(path: string, gateway: GatewayProcess): Fault;
}

export const SQLITE_FAULTS: readonly SqliteFault[] = [
  { name: 'none', fault: () => ({ strike: () => delay(FAULT_MS) }) },
  {
    name: 'file locked by another process 3 s',
    fault(path) {
      const other = new DatabaseSync(path, { timeout: 30_000 }); // for writes of a gateway that is held up
      return lasting(
        () => other.exec('BEGIN EXCLUSIVE'),
        () => other.close(), // which gives the lock back
        FAULT_MS,
      );
    },
  },
  {
    name: 'file takes no write 3 s, as on a full disk',
    fault: (_path, { pid }) =>
      lasting(
        () => limitFiles(pid, 0),
        () => limitFiles(pid, 'unlimited'),
        FAULT_MS,
      ),
  },
];

/** Lets every write of a process beyond this size of a file fail, as on a full disk; the hard limit stays. */
export function limitFiles(pid: number | undefined, bytes: number | 'unlimited'): void {
  execFileSync('prlimit', [`--pid=${pid}`, `--fsize=${bytes}:`]);
}
