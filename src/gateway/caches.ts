/** Wraps `make` so that it runs at the first call; later calls get the same value. A failure is not cached: the next call tries again. */
export function makeOnce<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let cached: Promise<Value> | undefined;
  return () => {
    cached ??= make().catch((error: unknown) => {
      cached = undefined;
      throw error;
    });
    return cached;
  };
}

/** A copy of a text that is to be kept: one that was cut out of a longer text keeps all of that in memory. Lone surrogates become U+FFFD. */
export function copyText(text: string): string {
  return Buffer.from(text).toString();
}

/**
 * An approximate LRU cache with text keys, up to a total size of `maxSize`. A value has the size 1, or the result of `sizeOf`; one
 * larger than half of `maxSize` is not cached. There are two generations, and the older one is evicted as a whole. So the most recently
 * used half always stays, and most hits write nothing, unlike in a Map that is kept in order of use.
 */
export function createLruCache<Value>(maxSize: number, sizeOf: (text: string, value: Value) => number = () => 1) {
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();
  let youngSize = 0;
  /** Gives the value. */
  const set = (text: string, value: Value): Value => {
    const size = sizeOf(text, value);
    if (size > maxSize / 2) return value;
    if (youngSize + size > maxSize / 2) {
      [old, young] = [young, new Map()];
      youngSize = 0;
    }
    young.set(text, value);
    youngSize += size;
    return value;
  };
  return {
    set,
    get(text: string): Value | undefined {
      const value = young.get(text);
      if (value !== undefined) return value;
      const aged = old.get(text);
      if (aged !== undefined) set(text, aged);
      return aged;
    },
  };
}

/**
 * Throttles `work`: it starts at most once in `periodMs`, and never while it runs. Any other call gets the promise of the last
 * run, with its answer or its error.
 */
export function throttle<Answer>(periodMs: number, work: () => Promise<Answer>): () => Promise<Answer> {
  let last: Promise<Answer> | undefined;
  let nextAt = 0;
  return () => {
    const startedAt = performance.now();
    if (last !== undefined && startedAt < nextAt) return last;
    nextAt = Number.POSITIVE_INFINITY; // no new run while this one is in flight
    last = work().finally(() => {
      nextAt = startedAt + periodMs;
    });
    return last;
  };
}
