import { getHeapStatistics } from 'node:v8';
import type { Refusal } from '../../lib/fair-shares/fair-shares.ts';
import { ConfigError } from '../config.ts';
import { SHARE_WAIT_MS } from '../deadlines.ts';
import { ApiError } from '../errors.ts';

/** The limits of all keys together in one process. */
export type ProcessLimits = Readonly<ReturnType<typeof shareLimitsOf>>;

const MIB = 2 ** 20;
const BYTES_MAX = 384 * 2 ** 20;
/** The least that is reserved for an object of an answer, in bytes: its row, its text and its part of the whole answer. */
const OBJECT_BYTES = 65_536;
/** The least heap for a BODY_LIMIT: so many of the longest bodies. */
const HEAP_BODIES = 48;

const REFUSALS: Readonly<Record<Refusal, string>> = {
  'queue full': 'Too many requests of this API key at once; try again shortly.',
  late: 'Too many requests of this API key are waiting; try again shortly.',
  abandoned: 'The request has been abandoned.',
};

/**
 * The limits of one of `workers` processes on this machine. Throws ConfigError when the heap is too small
 * for bodies of `bodyLimitBytes`.
 */
export function shareLimitsOf(
  workers: number,
  bodyLimitBytes: number,
  heapBytes = getHeapStatistics().heap_size_limit,
  containerBytes = process.constrainedMemory(),
) {
  const leastBytes = HEAP_BODIES * bodyLimitBytes;
  if (heapBytes < leastBytes) {
    const [needed, is] = [leastBytes, heapBytes].map((bytes) => Math.ceil(bytes / MIB));
    throw new ConfigError(
      `BODY_LIMIT=${bodyLimitBytes} needs a heap of ${needed} MB, and this one has ${is}: NODE_OPTIONS=--max-old-space-size=${needed}, or a lower limit`,
    );
  }
  const ofContainer = containerBytes > 0 ? containerBytes / workers / 8 : BYTES_MAX; // 0: no container
  return {
    inFlight: 256,
    /**
     * Bytes of bodies, of reservations for answers and of answers that clients have not read. A sixth of the heap, which also
     * holds the program and garbage; at most an eighth of a container's memory, because bodies are also held outside of the heap.
     */
    bytes: Math.min(BYTES_MAX, heapBytes / 6, ofContainer),
    /** Bytes that are reserved for an object of an answer before it is read. */
    objectBytes: Math.max(OBJECT_BYTES, bodyLimitBytes),
    waiting: 2000,
    waitMs: SHARE_WAIT_MS,
    refusal: (why: Refusal) => new ApiError('too_many_requests', REFUSALS[why]),
  };
}
