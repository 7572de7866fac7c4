import { execFileSync } from 'node:child_process';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './fault-run.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { GATEWAY_KILLED } from './server-faults.ts';

const FAULT_MS = 3000;

/** What may happen to an embedded file. */
export interface SqliteFault {
  readonly name: string;
  readonly gatewayDies?: boolean;
  fault(path: string, gateway: GatewayProcess): Fault;
}

export const SQLITE_FAULTS: readonly SqliteFault[] = [
  { name: 'none', fault: () => ({ strike: () => delay(FAULT_MS) }) },
  {
    name: 'file locked by another process 3 s',
    fault: (path) => ({
      async strike() {
        const other = new DatabaseSync(path, { timeout: 2000 });
        other.exec('BEGIN EXCLUSIVE');
        await delay(FAULT_MS);
        other.exec('ROLLBACK');
        other.close();
      },
    }),
  },
  {
    name: 'file takes no write 3 s, as on a full disk',
    fault: (_path, { pid }) => ({
      async strike() {
        limitFiles(pid, 0);
        await delay(FAULT_MS);
        limitFiles(pid, 'unlimited');
      },
    }),
  },
  GATEWAY_KILLED,
];

/** Lets every write of a process beyond this size of a file fail, as on a full disk; the hard limit stays. */
export function limitFiles(pid: number | undefined, bytes: number | 'unlimited'): void {
  execFileSync('prlimit', [`--pid=${pid}`, `--fsize=${bytes}:`]);
}
