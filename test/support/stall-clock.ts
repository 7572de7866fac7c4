import { readFileSync } from 'node:fs';

/** How often it is looked whether this process gets its turn. */
const EVERY_MS = 50;
/** Less is the work of the tests themselves. */
const LATE_FROM_MS = 100;

const stalls: { readonly endedAt: number; readonly ms: number }[] = [];
let lookedAt = performance.now();
let waitedMs = waitedForCpu();

// A machine that stops for a moment stops this timer, too. A service that hangs does not, unless it runs in this process.
setInterval(look, EVERY_MS).unref();

/** Notes the time in which this process was ready to run and others had the cores, or in which the whole machine stood still. */
function look(): void {
  const now = performance.now();
  const waited = waitedForCpu();
  const late = now - lookedAt - EVERY_MS;
  // On a busy machine a process waits for each of its turns, never for long.
  const ms = Math.max(late > LATE_FROM_MS ? late : 0, waited - waitedMs);
  if (ms > 0) stalls.push({ endedAt: now, ms });
  lookedAt = now;
  waitedMs = waited;
}

/** How long this process has waited for a core since its start, in ms, where the system tells: Linux, its first thread. */
function waitedForCpu(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[1]) / 1e6; // proc_pid_schedstat(5)
  } catch {
    return 0;
  }
}

/**
 * Options of a test that has bounds of time, which an `expect` of the message `late` checks: twice more where a busy machine was too
 * late. Who is always late fails all the same.
 */
export const RETRY_LATE = { retry: { count: 2, condition: /^late/ } };
/** The same of a test that has them in calls of `eventually`. */
export const RETRY_NOT_WITHIN = { retry: { count: 2, condition: /^not within/ } };

/** How long this process was held up from `startedAt` to now, in ms. */
export function lateSince(startedAt: number): number {
  look(); // a stall may just have ended, before the timer had its turn
  return stalls
    .filter(({ endedAt }) => endedAt > startedAt)
    .reduce((sum, { endedAt, ms }) => sum + Math.min(ms, endedAt - startedAt), 0);
}

/**
 * The time from `startedAt` to now, in ms, without that in which this process was held up. The gateways and servers beside it
 * are held up as well: they, too, are taken to have had this process's share of the time.
 */
export function msSince(startedAt: number): number {
  const ms = performance.now() - startedAt;
  const ownMs = Math.max(0, ms - lateSince(startedAt));
  return ms === 0 ? 0 : ownMs * (ownMs / ms);
}
