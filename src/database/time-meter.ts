/** An estimate that follows times as they are noted, in ms. */
export interface TimeMeter {
  note(ms: number): void;
  /** Infinity as long as nothing is known. */
  ms(): number;
}

/** The shortest time of the last `recentMs`, or up to twice as many. */
export function createShortestTime(recentMs: number): TimeMeter {
  let shortest = Number.POSITIVE_INFINITY;
  let shortestBefore = Number.POSITIVE_INFINITY;
  let since = performance.now();
  return {
    note(ms) {
      const now = performance.now();
      if (now - since > recentMs) {
        shortestBefore = now - since > 2 * recentMs ? Number.POSITIVE_INFINITY : shortest; // else too old
        shortest = Number.POSITIVE_INFINITY;
        since = now;
      }
      shortest = Math.min(shortest, ms);
    },
    ms: () => Math.min(shortest, shortestBefore),
  };
}

/** Load makes the estimate greater, and leaves the shortest time of late as it is. */
export type WayMeter = TimeMeter & { shortestMs(): number };

/** How long the shortest time counts, in ms: an address may move. */
const SHORTEST_MS = 30_000;
/** Of fewer times than these, even the shortest may be long: the first ones prepare their statements. */
const SHORTEST_OF = 20;

/** The way takes what this share of the answers stay below: fewer are chance, and most have waited for the process itself. */
const WAY_SHARE = 0.1;
/** How far one answer moves the estimate down; it moves it up by as much less as answers above are more. */
const WAY_STEP = 0.05;

/**
 * How long the way to a database and back takes, told by its answers to reads: a low quantile of them, as stochastic
 * approximation finds it, https://doi.org/10.1214/aoms/1177729586
 */
export function createWayMeter(): WayMeter {
  const stepUp = (WAY_STEP * WAY_SHARE) / (1 - WAY_SHARE);
  let way = Number.POSITIVE_INFINITY;
  const shortest = createShortestTime(SHORTEST_MS);
  let noted = 0;
  return {
    note(ms) {
      noted++;
      shortest.note(ms);
      if (way === Number.POSITIVE_INFINITY) way = ms;
      else way = ms < way ? Math.max(ms, way * (1 - WAY_STEP)) : Math.min(ms, way * (1 + stepUp));
    },
    ms: () => way,
    shortestMs: () => (noted < SHORTEST_OF ? Number.POSITIVE_INFINITY : shortest.ms()),
  };
}

/** Does `work` and tells how long it took, unless it fails: what nobody took is no short way. */
export async function noteTime<Result>(note: (ms: number) => void, work: () => PromiseLike<Result>): Promise<Result> {
  const begunAt = performance.now();
  const result = await work();
  note(performance.now() - begunAt);
  return result;
}
