import { readFile } from 'node:fs/promises';
import { eventually } from '../support/load.ts';
import type { TestProcess } from '../support/process.ts';

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
