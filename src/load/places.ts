/** How many requests may be at work while several keys ask. */
export interface Places {
  readonly count: number;
  /** Work has taken `ms`, with so many at work when it was done. */
  noteWork(ms: number, atWork: number): void;
  /** A turn of the event loop has taken `ms` of its own. */
  noteTurn(ms: number): void;
}

/** How much longer work may take than undisturbed work, before there are too many at work: a factor, and ms. */
const LATE_FACTOR = 2;
const LATE_MS = 5;
/** How long a turn may be, in ms: everybody's next step waits for its end. */
const TURN_MS = 3;
/** How the count moves: with work in time, with late work, with a long turn. */
const GROWTH = 0.1;
const SHRINKING = 0.98;
const TURN_SHRINKING = 0.9;
/** How much the newest sample of undisturbed work counts. */
const WEIGHT = 0.1;

/**
 * As many places as work needs to flow, and few enough that none of it waits long behind the rest: more while work takes about
 * as long as it does undisturbed, fewer while it takes longer. A database a network away so gets many, one that is busy few.
 * The idea is TCP Vegas's, https://doi.org/10.1145/190314.190317. What is undisturbed is measured at the fewest places only,
 * so that it cannot creep up with the count.
 */
export function createPlaces(fewest: number, most: number): Places {
  let count = Math.min(most, fewest * 4);
  let undisturbedMs = 0;
  const shrink = (factor: number) => {
    count = Math.max(fewest, count * factor);
  };
  return {
    get count() {
      return count;
    },
    noteWork(ms, atWork) {
      if (atWork <= fewest) undisturbedMs += WEIGHT * (ms - undisturbedMs);
      if (ms > LATE_FACTOR * undisturbedMs + LATE_MS) shrink(SHRINKING);
      else count = Math.min(most, count + GROWTH);
    },
    noteTurn(ms) {
      if (ms > TURN_MS) shrink(TURN_SHRINKING);
    },
  };
}
