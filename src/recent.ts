/** Values by text, of which those asked for lately are kept. */
export interface Recent<Value> {
  get(text: string): Value | undefined;
  set(text: string, value: Value): void;
}

/**
 * Keeps at least the `most / 2` values that were used last, and `most` at most. Two generations, of which the older is
 * dropped whole: unlike a Map that is kept in the order of use, a hit writes nothing.
 */
export function keepRecent<Value>(most: number): Recent<Value> {
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();
  const set = (text: string, value: Value) => {
    if (young.size >= most / 2) [old, young] = [young, new Map()];
    young.set(text, value);
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
