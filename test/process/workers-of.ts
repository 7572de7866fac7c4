import { readFile } from 'node:fs/promises';
import type { TestEngine } from '../support/engines.ts';
import { eventually } from '../support/load.ts';
import { startPrepared } from '../support/prepared.ts';
import type { TestProcess } from '../support/process.ts';

/** Signals that make a serving process fail as no request is known to, with this environment. */
export const FAULT_SIGNALS = ['SIGUSR2', 'SIGPWR'] as const;
const FAULTS = `
  process.on('SIGUSR2', () => setImmediate(() => { throw new Error('a fault on purpose'); }));
  process.on('SIGPWR', () => { Promise.reject(new Error('a fault on purpose')); });`;
export const WITH_FAULTS = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(FAULTS)}` };
/** What such a process logs. */
export const LAST_RESORT = /"level":60.*a fault on purpose.*a fault that nothing caught; stopping/;

/** A gateway of two workers that listen, the first one first. */
export async function startTwo(engine: TestEngine, env: Record<string, string> = {}, node?: string) {
  const { prepared, gateway } = await startPrepared(engine, { WORKERS: '2', ...env }, node);
  await gateway.waitFor(/(?:listening on[\s\S]*){2}/);
  const workers = await twoWorkersOf(gateway);
  const said = (pattern: RegExp, limitMs = 60_000) =>
    eventually(() => pattern.test(gateway.stdout()), limitMs, String(pattern));
  return { prepared, gateway, workers, said };
}

/** The process ids of the workers, as Linux tells them. */
export async function workersOf({ child }: TestProcess): Promise<number[]> {
  const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
  return children.trim().split(' ').filter(Boolean).map(Number);
}

/** One worker of a gateway, waited for: between a death and the next start there may be none, and 0 is no pid to be killed. */
export function workerOf(gateway: TestProcess, limitMs = 10_000): Promise<number> {
  return eventually(async () => (await workersOf(gateway))[0], limitMs, 'there is a worker');
}

/** The two workers of a gateway, none of them among `others`; waited for. */
export function twoWorkersOf(gateway: TestProcess, others: readonly number[] = []): Promise<[number, number]> {
  const two = async (): Promise<[number, number] | undefined> => {
    const [first, second, ...more] = await workersOf(gateway);
    if (first === undefined || second === undefined || more.length > 0) return undefined;
    return [first, second].some((pid) => others.includes(pid)) ? undefined : [first, second];
  };
  return eventually(two, 10_000, 'two workers');
}
