import { getHeapStatistics } from 'node:v8';

/** More than this is of no use to requests, in bytes. */
const MOST = 384 * 2 ** 20;

/**
 * How many bytes requests may hold, of a process that shares its machine with so many others of its kind, itself counted. A
 * sixth of the heap: beside what requests hold there are the program, and what the collector has not taken away yet. Of a
 * container an eighth, for bodies, and answers on their way, stand beside the heap.
 */
export function memoryForRequests(
  workers: number,
  heapBytes = getHeapStatistics().heap_size_limit,
  containerBytes = process.constrainedMemory(),
): number {
  const ofContainer = containerBytes > 0 ? containerBytes / workers / 8 : MOST; // 0: there is none
  return Math.min(MOST, heapBytes / 6, ofContainer);
}
