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
/** A sixth of the heap is shared, which also holds the program and garbage. */
const HEAP_PART = 6;
/** An eighth of a container's memory is shared at most, because bodies are also held outside of the heap. */
const CONTAINER_PART = 8;
/** The least that is shared, in the longest bodies: one finds room for its answer, see RESERVED_FRACTION. */
const LEAST_BODIES = 8;

const REFUSALS: Readonly<Record<Refusal, string>> = {
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
  const refuse = (needs: string, isBytes: number, remedy: string): never => {
    const reason = `BODY_LIMIT=${bodyLimitBytes} needs ${needs} MB, and this one has ${inMib(isBytes)}`;
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
    waiting: 2000,
    waitMs: SHARE_WAIT_MS,
    refusal: (why: Refusal) => new ApiError('too_many_requests', REFUSALS[why]),
  };
}
