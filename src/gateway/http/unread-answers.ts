import type { ServerResponse } from 'node:http';
import type { Share, Shares } from '../../lib/fair-shares/fair-shares.ts';
import { ApiError } from '../errors.ts';
import type { Answer } from './call.ts';
import type { ProcessLimits } from './share-limits.ts';

/** Answers of at least this length, in characters or bytes, count until they are read. The limit of requests in flight bounds the others. */
const COUNTED_LENGTH = 16_384;

/** The largest reservation of one answer, as a fraction of all bytes. There is room for one beside bodies, never for two. */
const RESERVED_FRACTION = 1 / 3;

/**
 * Reserves bytes for one answer until `free`, and counts each of its reads as a request in flight. `limits` are those
 * of all keys together.
 */
export function createReservation(
  shares: Shares,
  share: Share,
  limits: Pick<ProcessLimits, 'bytes' | 'objectBytes'>,
  response: Pick<ServerResponse, 'closed'>,
) {
  let reserved = 0;
  let furtherReads = 0;
  return {
    reserve(objects: number, reads = 1): Promise<void> | undefined {
      if (reads > 1) furtherReads = shares.addInFlight(share, reads - 1);
      const bytes = Math.min(objects * limits.objectBytes, RESERVED_FRACTION * limits.bytes);
      const queued = shares.reserve(share, bytes, response)?.then(() => {
        reserved = bytes;
      });
      if (queued === undefined) reserved = bytes;
      return queued;
    },
    free() {
      if (reserved > 0) shares.free(share, reserved);
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
