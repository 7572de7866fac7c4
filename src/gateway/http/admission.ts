import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { type Deadline, remainingMs } from '../../lib/deadline/deadline.ts';
import type { Share, Shares } from '../../lib/fair-shares/fair-shares.ts';
import { KEY_LOOKUP_MS, LAG_LIMIT_MS } from '../deadlines.ts';
import { ApiError, serviceUnavailable } from '../errors.ts';
import type { Authenticator, ValidKey } from '../keys/authenticator.ts';
import type { Metrics } from '../metrics.ts';

interface AdmissionParts {
  readonly authenticator: Authenticator;
  readonly shares: Shares;
  readonly metrics: Pick<Metrics, 'countShedRequest'>;
  readonly bodyLimitBytes: number;
}

/** A request that asks for a place in flight. */
interface Entrant {
  readonly valid: ValidKey;
  /** The API key itself. */
  readonly apiKey: string;
  readonly share: Share;
  readonly deadline: Deadline;
  readonly answer: Pick<ServerResponse, 'closed' | 'on'>;
}

/** The least memory that a request with a body counts, in bytes, even before any byte of the body has arrived. */
const BODY_LEAST_BYTES = 16_384;

/** Creates what bounds the requests with a valid key: the memory of their bodies, and their places in flight. */
export function createAdmission({ authenticator, shares, metrics, bodyLimitBytes }: AdmissionParts) {
  const isBehind = watchEventLoop();
  return {
    /**
     * Counts the memory of a body before any byte of it is read; `shares.free` ends it. Gives the bytes. ApiError
     * `too_many_requests` when the key has too much.
     */
    holdBody(share: Share, headers: IncomingHttpHeaders): number {
      const announced = Number(headers['content-length'] ?? bodyLimitBytes);
      const bytes = Math.max(Math.min(announced, bodyLimitBytes), BODY_LEAST_BYTES);
      if (shares.hold(share, bytes)) return bytes;
      throw new ApiError('too_many_requests', 'Too many request bodies of this API key at once; try again shortly.');
    },

    /**
     * Runs `work` as a request in flight of its key, or queues it until the key's share has room. It stays in flight until the
     * answer is sent: a client that does not read its answers delays only requests of its own key. `work` gets the key, looked up
     * again if it was believed no longer. Gives undefined when the client has gone. ApiError `too_many_requests`, `unauthorized`,
     * `service_unavailable`.
     */
    async run<Result>(
      { valid, apiKey, share, deadline, answer }: Entrant,
      work: (valid: ValidKey) => Promise<Result>,
    ): Promise<Result | undefined> {
      const now = performance.now();
      // A key's only request is never shed: it does not cause the overload.
      if (share.inFlight > 0 && isBehind()) {
        metrics.countShedRequest();
        throw new ApiError('service_unavailable', 'The service is overloaded; try again shortly.');
      }
      const isAbandoned = () => answer.closed;
      return shares.run(share, now, isAbandoned, async () => {
        if (answer.closed) return void share.release();
        answer.on('close', share.release);
        const isBelieved = performance.now() < valid.validUntil;
        return work(isBelieved ? valid : await lookUpAgain(authenticator, apiKey, deadline));
      });
    },
  };
}

/** Checks the key after a slow body or a wait in the queue. It queries the database only if the cache entry has expired. */
async function lookUpAgain(authenticator: Authenticator, apiKey: string, deadline: Deadline) {
  const cached = authenticator.findCached(apiKey);
  if (!cached && remainingMs(deadline) < KEY_LOOKUP_MS) {
    throw serviceUnavailable(new Error('too little time is left to look the key up again'));
  }
  return cached ?? authenticator.lookUp(apiKey);
}

const LAG_SAMPLE_MS = 100;
/** The weight of the newest sample in the moving average. One long turn is no overload, a second of long turns is. */
const LAG_WEIGHT = 0.2;
/** The most that a sample counts. A pause of the process or of the machine is one sample, however long it is. */
const LAG_SAMPLE_MAX_MS = 3 * LAG_LIMIT_MS;

/** Gives a function that tells whether the event loop's lag, a moving average, is over LAG_LIMIT_MS. */
function watchEventLoop(): () => boolean {
  let lag = 0;
  let sampledAt = performance.now();
  setInterval(() => {
    const now = performance.now();
    lag += LAG_WEIGHT * (Math.min(now - sampledAt - LAG_SAMPLE_MS, LAG_SAMPLE_MAX_MS) - lag);
    sampledAt = now;
  }, LAG_SAMPLE_MS).unref();
  return () => lag > LAG_LIMIT_MS;
}
