import { readFile } from 'node:fs/promises';
import type { TestProcess } from '../support/process.ts';

/** The process ids of the workers, as Linux tells them. */
export async function workersOf({ child }: TestProcess): Promise<number[]> {
  const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
  return children.trim().split(' ').filter(Boolean).map(Number);
}
