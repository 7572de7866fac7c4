import { LAG_LIMIT_MS } from '../deadlines.ts';

const LAG_SAMPLE_MS = 100;
/** How much the newest sample counts: one long pause is no overload, a second of them is. */
const LAG_WEIGHT = 0.2;

/** Tells whether the event loop has been late on average over the last samples: then this process is too far behind. */
export function watchEventLoop(): () => boolean {
  let lag = 0;
  let sampledAt = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    lag += LAG_WEIGHT * (now - sampledAt - LAG_SAMPLE_MS - lag);
    sampledAt = now;
  }, LAG_SAMPLE_MS);
  timer.unref();
  return () => lag > LAG_LIMIT_MS;
}
