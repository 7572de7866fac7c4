import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Share, Shares } from '../../lib/fair-shares/fair-shares.ts';
import { LAG_LIMIT_MS } from '../deadlines.ts';
import { ApiError } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import type { Answer } from './call.ts';
import type { ProcessLimits } from './share-limits.ts';

/** The least memory that a request with a body counts, in bytes, even before any byte of the body has arrived. */
const BODY_LEAST_BYTES = 16_384;

/** Creates what bounds the requests with a valid key: the memory of their bodies, and their places in flight. */
export function createAdmission(shares: Shares, bodyLimitBytes: number, metrics: Pick<Metrics, 'countShedRequest'>) {
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
     * Takes a place in flight: at once, and gives undefined, or gives a promise that waits until the key's share has room.
     * `share.release` ends it. ApiError `too_many_requests`, `service_unavailable`.
     */
    begin(share: Share, answer: Pick<ServerResponse, 'closed'>): Promise<void> | undefined {
      // A key's only request is never shed: it does not cause the overload.
      if (share.inFlight > 0 && isBehind()) {
        metrics.countShedRequest();
        throw new ApiError('service_unavailable', 'The service is overloaded; try again shortly.');
      }
      return shares.begin(share, answer);
    },
  };
}

/** Answers of at least this length, in characters or bytes, count until they are read. The limit of requests in flight bounds the others. */
const COUNTED_LENGTH = 16_384;

/**
 * The largest reservation of one answer, as a fraction of all bytes. There is room for one beside bodies, never for three, and beside
 * the longest body where eight of them are shared.
 */
const RESERVED_FRACTION = 0.3;

/**
 * Reserves bytes for one answer until `free`, and counts each of its reads as a request in flight. `limits` are those
 * of all keys together; the wait for bytes is `waitMs` at most.
 */
export function createReservation(
  shares: Shares,
  share: Share,
  limits: Pick<ProcessLimits, 'bytes' | 'objectBytes'>,
  response: Pick<ServerResponse, 'closed'>,
  waitMs?: number,
) {
  let reserved = 0;
  let furtherReads = 0;
  return {
    reserve(objects: number, reads = 1): Promise<void> | undefined {
      if (reads > 1) furtherReads = shares.addInFlight(share, reads - 1);
      const bytes = Math.min(objects * limits.objectBytes, RESERVED_FRACTION * limits.bytes);
      const queued = shares.reserve(share, bytes, response, waitMs)?.then(() => {
        reserved = bytes;
      });
      if (queued === undefined) reserved = bytes;
      return queued;
    },
    free() {
      if (reserved > 0) shares.freeReserved(share, reserved);
      if (furtherReads > 0) shares.removeInFlight(share, furtherReads);
    },
  };
}

/**
 * Counts a long answer until the client has read it. ApiError `too_many_requests` beyond the limit, unless the answer tells of a
 * change.
 */
export function holdAnswer(
  shares: Shares,
  share: Share,
  answer: Answer,
  tellsChange: boolean,
  response: ServerResponse,
): Answer {
  const { body } = answer;
  if (body === undefined || body.length < COUNTED_LENGTH) return answer;
  if (response.closed) return answer; // the client has gone, and no further `close` would free the bytes
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body); // one copy, outside of the heap
  if (shares.hold(share, bytes.length)) {
    response.once('close', () => shares.free(share, bytes.length));
  } else if (!tellsChange) {
    const message = 'Too many answers to this API key have not been read; read them, then try again.';
    throw new ApiError('too_many_requests', message);
  }
  return { ...answer, body: bytes };
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
