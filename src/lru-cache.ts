/** Values by text, of which those asked for lately are kept. */
export interface LruCache<Value> {
  get(text: string): Value | undefined;
  set(text: string, value: Value): void;
}

/**
 * Keeps at least the half of `most` that was used last, and `most` at most: values, or what `sizeOf` counts of them;
 * what is larger than that half by itself is not kept. Two generations, of which the older is dropped whole: unlike a
 * Map that is kept in the order of use, a hit writes nothing.
 */
export function createLruCache<Value>(
  most: number,
  sizeOf: (text: string, value: Value) => number = () => 1,
): LruCache<Value> {
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();
  let youngSize = 0;
  const set = (text: string, value: Value) => {
    const size = sizeOf(text, value);
    if (size > most / 2) return;
    if (youngSize + size > most / 2) {
      [old, young] = [young, new Map()];
      youngSize = 0;
    }
    young.set(text, value);
    youngSize += size;
  };
  return {
    set,
    get(text) {
      const value = young.get(text);
      if (value !== undefined) return value;
      const again = old.get(text);
      if (again !== undefined) set(text, again);
      return again;
    },
  };
}
