import { ApiError } from '../errors.ts';
import { createTokenBucket } from './token-bucket.ts';

/** Refusals that are answered without a delay: at once, and each second. */
const AT_ONCE_MAX = 200;
const PER_SECOND = 200;
/** Those beyond that are answered so many at a time, so often, in ms. */
const PER_TICK = 10;
const TICK_MS = 5;
/** Refusals that wait for it; each holds its request. */
const WAITING_MAX = 5000;

/**
 * Bounds the time that requests without a valid key take from all others: gives what throws an error, a refusal perhaps after
 * a delay. A client that is refused and asks again at once, on many connections, asks less when its answers come later.
 */
export function createRefusals(now: () => number): (thrown: unknown) => Promise<never> {
  const waiters: (() => void)[] = [];
  const bucket = createTokenBucket(AT_ONCE_MAX, PER_SECOND, now);
  let timer: NodeJS.Timeout | undefined;

  const answerSome = () => {
    for (const answer of waiters.splice(0, PER_TICK)) answer();
    if (waiters.length === 0) timer = void clearInterval(timer);
  };

  return async (thrown) => {
    if (!(thrown instanceof ApiError) || thrown.status >= 500) throw thrown;
    if (bucket.hasToken()) {
      bucket.take();
    } else if (waiters.length < WAITING_MAX) {
      timer ??= setInterval(answerSome, TICK_MS);
      await new Promise<void>((resolve) => waiters.push(resolve));
    }
    throw thrown;
  };
}
