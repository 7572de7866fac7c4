import { setTimeout as delay } from 'node:timers/promises';
import type { WireRequest } from './check.ts';
import type { Contender } from './contenders.ts';
import { gatewayEnvironment, withoutSettings } from './environment.ts';
import { askOnce } from './load.ts';
import { cpuMs, freePort, isRunning, peakMemoryMiB, ROOT, start, stop } from './processes.ts';

/** A contender at work. */
export interface Server {
  readonly port: number;
  readonly pid: number;
  /** CPU time used so far, in ms. */
  cpuMs(): number;
  /** The most memory held so far, in MiB. */
  peakMemoryMiB(): number;
  stop(): Promise<void>;
}

const START_LIMIT_MS = 30_000;

/** Starts `contender` as a fresh process and waits until it answers `probe` rightly. */
export async function startServer(
  contender: Contender,
  databaseUrl: string,
  probe: WireRequest,
  settings: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const port = await freePort();
  const flags = contender.name === 'gateway' ? ['--max-semi-space-size=32'] : []; // as `npm start` has it
  const command = [process.execPath, ...flags, contender.script];
  const given = { ...settings, DATABASE_URL: databaseUrl, PORT: String(port) };
  // The gateway runs as it does for somebody who set DATABASE_URL and nothing else: its log on, NODE_ENV unset. The
  // comparisons write no log and have NODE_ENV=production, which is how their makers want to be measured.
  const env =
    contender.name === 'gateway'
      ? gatewayEnvironment(given)
      : { ...withoutSettings(process.env), NODE_ENV: 'production', ...given };
  const child = start(command, { cores: '0', cwd: ROOT, env, stdio: ['ignore', 'ignore', 'inherit'] });
  const pid = child.pid ?? 0;
  await answersRightly(port, probe, START_LIMIT_MS, () => isRunning(child)).catch((error: unknown) => {
    throw new Error(`${contender.name} did not start`, { cause: error });
  });
  return { port, pid, cpuMs: () => cpuMs(pid), peakMemoryMiB: () => peakMemoryMiB(pid), stop: () => stop(child) };
}

/** Asks until the first right answer. Rejects when the process ends or the time is over. */
export async function answersRightly(
  port: number,
  probe: WireRequest,
  limitMs: number,
  isAlive: () => boolean,
): Promise<void> {
  for (const deadline = Date.now() + limitMs; ; await delay(5)) {
    const isRight = await askOnce(port, probe).catch(() => false); // nobody listens yet
    if (isRight) return;
    if (!isAlive()) throw new Error('it ended before it answered');
    if (Date.now() > deadline) throw new Error('no right answer in time');
  }
}
