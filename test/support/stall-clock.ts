/** How often it is looked whether this process gets its turn. */
const EVERY_MS = 50;
/** Less is the work of the tests themselves. */
const LATE_FROM_MS = 100;

const stalls: { readonly endedAt: number; readonly ms: number }[] = [];
let lookedAt = performance.now();

// A machine that stops for a moment stops this timer, too. A service that hangs does not, unless it runs in this process.
setInterval(look, EVERY_MS).unref();

function look(): void {
  const now = performance.now();
  const ms = now - lookedAt - EVERY_MS;
  if (ms > LATE_FROM_MS) stalls.push({ endedAt: now, ms });
  lookedAt = now;
}

/** How long this process was held up from `startedAt` to now, in ms. */
export function lateSince(startedAt: number): number {
  look(); // a stall may just have ended, before the timer had its turn
  return stalls
    .filter(({ endedAt }) => endedAt > startedAt)
    .reduce((sum, { endedAt, ms }) => sum + Math.min(ms, endedAt - startedAt), 0);
}

/** The time from `startedAt` to now, in ms, without that in which this process was held up. */
export function msSince(startedAt: number): number {
  return performance.now() - startedAt - lateSince(startedAt);
}
