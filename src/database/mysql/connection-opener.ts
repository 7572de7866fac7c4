/** What an opener asks and tells. */
interface OpenerParts<Opened> {
  /** Opens one, or rejects, within a bounded time. */
  open(): Promise<Opened>;
  /** How many are wanted now, those under way included. */
  wanted(): number;
  /** Whether one that is in use may come back: then nobody is refused. */
  mayReturn(): boolean;
  opened(connection: Opened): void;
  /** Nothing can come for those who have waited since before a moment. */
  refuse(before: number, cause: unknown): void;
  /** An opening has ended, well or not. */
  ended(): void;
}

/** Opens as many connections as are wanted. */
export interface Opener {
  openMore(): void;
  /** How many are under way. */
  size(): number;
  stop(): void;
}

/** Openings that began within this time, in ms, are one attempt; after a failed one, while others are in use or under way, it rests so long. */
const REOPEN_MS = 100;

/** An opener that never asks more of a server that refuses than one attempt at a time. */
export function createOpener<Opened>(parts: OpenerParts<Opened>): Opener {
  const underWay = new Set<{ readonly begunAt: number }>();
  let failedAt = Number.NEGATIVE_INFINITY;
  let resting: NodeJS.Timeout | undefined;

  const openMore = () => {
    const wanted = parts.wanted() - underWay.size;
    if (wanted <= 0) return;
    const restMs = failedAt + REOPEN_MS - performance.now();
    // One that has failed is not replaced while others of its attempt are under way: their failures would never be the last.
    if (restMs <= 0 || (underWay.size === 0 && !parts.mayReturn())) {
      for (let count = 0; count < wanted; count++) void openOne();
      return;
    }
    resting ??= setTimeout(() => {
      resting = undefined;
      openMore();
    }, restMs);
  };

  const openOne = async () => {
    const own = { begunAt: performance.now() };
    underWay.add(own);
    try {
      const opened = await parts.open();
      underWay.delete(own);
      failedAt = Number.NEGATIVE_INFINITY;
      parts.opened(opened);
    } catch (error) {
      underWay.delete(own);
      failedAt = performance.now();
      const together = own.begunAt + REOPEN_MS;
      const [oldest] = underWay;
      const mayCome = parts.mayReturn() || (oldest !== undefined && oldest.begunAt < together);
      if (!mayCome) parts.refuse(together, error);
    }
    openMore();
    parts.ended();
  };

  return { openMore, size: () => underWay.size, stop: () => clearTimeout(resting) };
}
