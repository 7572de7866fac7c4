import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { getHeapStatistics } from 'node:v8';
import type { Reason, Share, Shares } from '../../lib/fair-shares/fair-shares.ts';
import { CONNECTION_BYTES } from '../../lib/ordered-http/ordered-http.ts';
import { ConfigError } from '../config.ts';
import { LAG_LIMIT_MS, SHARE_WAIT_MS } from '../deadlines.ts';
import { ApiError } from '../errors.ts';
import type { Answer } from './call.ts';

/**
 * The least that a body counts while it has still to come, in bytes, because it has a connection. One key has half of all bytes at most, a
 * twelfth of the heap: so such bodies never take more than a quarter of the connections.
 */
const UNREAD_LEAST_BYTES = CONNECTION_BYTES / 3;

/**
 * Counts the memory of a body before any byte of it is read. When it `hasCome`, it counts as long as it said: then its request has a
 * place or waits for one, and both have limits of their own. `free` ends it. ApiError `too_many_requests` when the key has too much.
 */
export function holdBody(shares: Shares, share: Share, headers: IncomingHttpHeaders, limitBytes: number) {
  const announced = Math.min(Number(headers['content-length'] ?? limitBytes), limitBytes);
  let held = Math.max(announced, UNREAD_LEAST_BYTES);
  if (!shares.hold(share, held))
    throw new ApiError('too_many_requests', 'Too many request bodies of this API key at once; try again shortly.');
  const keep = (bytes: number) => {
    shares.free(share, held - bytes);
    held = bytes;
  };
  return { hasCome: () => keep(announced), free: () => keep(0) };
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
      if (reads > 1) furtherReads += shares.addInFlight(share, reads - 1);
      // Whole bytes: sums of fractions leave rests, and the share would never be free again.
      const bytes = Math.floor(Math.min(objects * limits.objectBytes, RESERVED_FRACTION * limits.bytes));
      const queued = shares.reserve(share, bytes, response, waitMs)?.then(() => {
        reserved += bytes;
      });
      if (queued === undefined) reserved += bytes;
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

/** `isBehind` tells whether the event loop's lag, a moving average, is over LAG_LIMIT_MS. */
export function watchEventLoop() {
  let lag = 0;
  let sampledAt = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    lag += LAG_WEIGHT * (Math.min(now - sampledAt - LAG_SAMPLE_MS, LAG_SAMPLE_MAX_MS) - lag);
    sampledAt = now;
  }, LAG_SAMPLE_MS).unref();
  return { isBehind: () => lag > LAG_LIMIT_MS, close: () => clearInterval(timer) };
}

/** The limits of all keys together in one process. */
export type ProcessLimits = Readonly<ReturnType<typeof shareLimitsOf>>;

const MIB = 2 ** 20;
const BYTES_MAX = 384 * 2 ** 20;
/** The least that is reserved for an object of an answer, in bytes: its row, its text and its part of the whole answer. */
const OBJECT_BYTES = 65_536;
/** A sixth of the heap is shared, which also holds the program and garbage. */
const HEAP_PART = 6;
/** An eighth of a container's memory is shared at most, because bodies are also held outside of the heap. */
const CONTAINER_PART = 8;
/** The least that is shared, in the longest bodies: one finds room for its answer, see RESERVED_FRACTION. */
const LEAST_BODIES = 8;

const REFUSALS: Readonly<Record<Reason, string>> = {
  'queue full': 'Too many requests of this API key at once; try again shortly.',
  late: 'Too many requests of this API key are waiting; try again shortly.',
  abandoned: 'The request has been abandoned.',
};

const inMib = (bytes: number) => Math.ceil(bytes / MIB);

/**
 * The limits of one of `workers` processes on this machine. Throws ConfigError when the heap or the container is too small for
 * bodies of `bodyLimitBytes`.
 */
export function shareLimitsOf(
  workers: number,
  bodyLimitBytes: number,
  heapBytes = getHeapStatistics().heap_size_limit,
  containerBytes = process.constrainedMemory(),
) {
  const refuse = (needs: string, actualBytes: number, remedy: string): never => {
    const reason = `BODY_LIMIT=${bodyLimitBytes} needs ${needs} MB, and this one has ${inMib(actualBytes)}`;
    throw new ConfigError(`${reason}: ${remedy}, or a lower limit`);
  };
  const least = LEAST_BODIES * bodyLimitBytes;
  const heap = HEAP_PART * least;
  if (heapBytes < heap)
    refuse(`a heap of ${inMib(heap)}`, heapBytes, `NODE_OPTIONS=--max-old-space-size=${inMib(heap)}`);
  const memory = containerBytes > 0 ? containerBytes : Number.POSITIVE_INFINITY; // 0: no container
  const container = CONTAINER_PART * least * workers;
  if (memory < container) refuse(`a container with WORKERS=${workers} of ${inMib(container)}`, memory, 'fewer workers');
  return {
    inFlight: 256,
    /** Bytes of bodies, of reservations for answers and of answers that clients have not read. */
    bytes: Math.min(BYTES_MAX, heapBytes / HEAP_PART, memory / workers / CONTAINER_PART),
    /** Bytes that are reserved for an object of an answer before it is read. */
    objectBytes: Math.max(OBJECT_BYTES, bodyLimitBytes),
    /** A quarter of the connections in a small heap, so that the requests of one key never have all of them. */
    waiting: Math.min(2000, Math.floor(heapBytes / CONNECTION_BYTES / 4)),
    waitMs: SHARE_WAIT_MS,
    refusal: (why: Reason) => new ApiError('too_many_requests', REFUSALS[why]),
  };
}
