import { deadlineIn } from '../deadline.ts';
import { ApiError } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import type { Admission } from '../web/admission.ts';

/** How late the event loop may be for some time, in ms, before requests are refused rather than made to wait. */
const LAG_LIMIT_MS = 500;
const LAG_SAMPLE_MS = 100;
/** How much the newest sample counts: one long pause is no overload, a second of them is. */
const LAG_WEIGHT = 0.2;
/** Requests that one process works on at once. */
const REQUESTS_LIMIT = 2000;

/**
 * Refuses requests early, as 503 with Retry-After, while this process is too far behind: better some clients that
 * try again than all that time out.
 */
export function shedLoad(metrics: Metrics): Admission['atWork'] {
  const isBehind = watchEventLoop();
  let underWay = 0;
  return async (_ctx, work) => {
    if (underWay >= REQUESTS_LIMIT || isBehind()) {
      metrics.countShedRequest();
      throw new ApiError('service_unavailable', 'The service is overloaded; try again shortly.', {
        headers: { 'Retry-After': '1' },
      });
    }
    underWay++;
    try {
      await work(deadlineIn());
    } finally {
      underWay--;
    }
  };
}

/** Tells whether the event loop has been late on average over the last samples. */
function watchEventLoop(): () => boolean {
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
