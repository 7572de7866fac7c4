/**
 * An approximate LRU cache with text keys. It holds values up to a total size of `most`; each has the size 1, or what `sizeOf`
 * gives. The most recently used half is never evicted. A value larger than half of `most` is not cached. There are two
 * generations, and the older one is evicted as a whole: so most hits write nothing, unlike those of a Map in order of use.
 */
export function createLruCache<Value>(most: number, sizeOf: (text: string, value: Value) => number = () => 1) {
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();
  let youngSize = 0;
  /** Gives the value. */
  const set = (text: string, value: Value): Value => {
    const size = sizeOf(text, value);
    if (size > most / 2) return value;
    if (youngSize + size > most / 2) {
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
