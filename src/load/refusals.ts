import { ApiError } from '../errors.ts';

/** Refusals that are answered at once: as many as have been saved up, and so many more each second. */
const SAVED_MAX = 200;
const PER_SECOND = 200;
/** Those beyond that are answered so many at a time, so often, in ms. */
const PER_TICK = 10;
const TICK_MS = 5;
/** Refusals that wait for it; each holds its request. */
const WAITING_MAX = 5000;

/** Bounds the time that requests without a valid key take from all others. */
export interface Refusals {
  /** Throws what was thrown; a refusal waits its turn before it. */
  pace(thrown: unknown): Promise<never>;
}

/**
 * Who is refused and asks again at once, on many connections, would keep the event loop busy with nothing else: answers that
 * come a little later make it ask less. A token bucket, then a drip.
 */
export function createRefusals(now: () => number): Refusals {
  const waiting: (() => void)[] = [];
  let saved = SAVED_MAX;
  let refilledAt = now();
  let drip: NodeJS.Timeout | undefined;

  const answerSome = () => {
    for (const answer of waiting.splice(0, PER_TICK)) answer();
    if (waiting.length === 0) drip = void clearInterval(drip);
  };

  return {
    async pace(thrown) {
      if (!(thrown instanceof ApiError) || thrown.status >= 500) throw thrown;
      const moment = now();
      saved = Math.min(SAVED_MAX, saved + ((moment - refilledAt) / 1000) * PER_SECOND);
      refilledAt = moment;
      if (saved >= 1) {
        saved--;
      } else if (waiting.length < WAITING_MAX) {
        drip ??= setInterval(answerSome, TICK_MS);
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
      throw thrown;
    },
  };
}
