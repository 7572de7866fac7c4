import { setTimeout as delay } from 'node:timers/promises';
import { msSince } from '../support/stall-clock.ts';
import type { Differences } from './ledger.ts';
import { type LoadReport, type LoadTarget, startMixedLoad } from './mixed-load.ts';

/** What fails during the load. */
export interface Fault {
  /** Resolves when what failed is back; from then on the time to heal counts. */
  readonly strike: () => Promise<unknown>;
  /** What happens once the gateway has healed, still under load. */
  readonly afterwards?: () => Promise<unknown>;
}

/** One fault, and what the clients saw of it. */
export interface FaultResult extends LoadReport, Differences {
  /** Right answers in a second, before the fault. */
  readonly loadHeld: number;
  /** From the end of the fault to the tenth right answer, in ms. */
  readonly healMs: number;
}

const WARM_UP_MS = 700;
const SETTLE_MS = 500;
/** Ten, because one right answer may still come of a request that the fault did not reach. */
const HEALED_ANSWERS = 10;
const HEALS_WITHIN_MS = 60_000;

/** Lets a fault strike in the middle of a mixed load, whose rate is measured before for `measureMs`. */
export async function runFault(target: LoadTarget, { strike, afterwards }: Fault, measureMs = 0): Promise<FaultResult> {
  const load = startMixedLoad(target);
  await delay(WARM_UP_MS);
  const [rightAtStart, startedAt] = [load.report.right, performance.now()];
  await delay(measureMs);
  const loadHeld = Math.round(((load.report.right - rightAtStart) * 1000) / (performance.now() - startedAt));
  await strike();
  const [rightAtEnd, endedAt] = [load.report.right, performance.now()];
  const healing = () => msSince(endedAt);
  while (load.report.right < rightAtEnd + HEALED_ANSWERS && healing() < HEALS_WITHIN_MS) await delay(5);
  const healMs = Math.round(healing());
  await afterwards?.();
  await delay(SETTLE_MS);
  return { ...(await load.stop()), loadHeld, healMs };
}
