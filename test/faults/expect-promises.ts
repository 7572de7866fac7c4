import { expect } from 'vitest';
import type { FaultResult } from './fault-run.ts';
import type { StoredPet } from './ledger.ts';

const ANSWERED_WITHIN_MS = 5500;
const HEALS_WITHIN_MS = 2000;
/** How many of those that went wrong are told. */
const STORIES = 5;

/** Whatever fails: right or 503 within five and a half seconds, nothing lost or doubled. */
export function expectPromisesKept(result: FaultResult): void {
  const { wrong, lost, doubled } = result;
  expect([...wrong, ...lost, ...doubled].slice(0, STORIES)).toEqual([]);
  expect(result.slowestMs, 'late').toBeLessThan(ANSWERED_WITHIN_MS);
}

/** What was down is used again soon after it is back. */
export function expectHealed({ healMs }: FaultResult): void {
  expect(healMs, 'late').toBeLessThan(HEALS_WITHIN_MS);
}

/** All members of a cluster have the same animals. */
export async function expectAgreement(cluster: { contents(): Promise<readonly StoredPet[][]> }): Promise<void> {
  const [first, ...others] = await cluster.contents();
  for (const other of others) expect(other).toEqual(first);
}
