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
