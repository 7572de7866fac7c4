import { ApiError } from '../errors.ts';

/** Somebody who waits for a place. */
interface Waiting {
  readonly since: number;
  readonly hasLeft: () => boolean;
  /** `true`: a place has been taken for it; `false`: it had left before. */
  readonly start: (hasPlace: boolean) => void;
  readonly refuse: (error: ApiError) => void;
}

/** Who has a line: the oldest waiting first. */
export interface Owner {
  readonly line: Waiting[];
}

/** What the lines may hold together. */
export interface LineLimits {
  readonly waiting: number;
  /** How long anybody waits, in ms. */
  readonly waitMs: number;
}

/** A line of waiting requests for each key. */
export interface Lines<Key extends Owner> {
  /**
   * Waits until `tryStart` has taken a place; false when the one who waited had left by then. ApiError `too_many_requests`
   * when the line is full or it takes too long.
   */
  wait(owner: Key, now: number, hasLeft: () => boolean): Promise<boolean>;
  /** Starts whoever may start: to be called when a place has become free. */
  startNext(): void;
}

const SWEEP_MS = 250;

/** Refused because the key asks for more than its share. */
export function tooManyRequests(message: string): ApiError {
  return new ApiError('too_many_requests', message);
}

/** Lines that take turns: each gets one place, then it is the next one's turn. `tryStart` takes a place if there is one. */
export function createLines<Key extends Owner>(
  limits: LineLimits,
  tryStart: (owner: Key) => boolean,
  clock: () => number,
): Lines<Key> {
  /** Those with a line, whose turn is next first. */
  const turns: Key[] = [];
  let waiting = 0;
  let sweeper: NodeJS.Timeout | undefined;

  const dropHead = (owner: Key): Waiting | undefined => {
    waiting--;
    return owner.line.shift();
  };

  const startNext = () => {
    // `refused`: how many of the lines at the end of the turns could not start since the last one that could.
    for (let refused = 0; turns.length > refused; ) {
      const owner = turns.shift();
      if (owner === undefined) break;
      while (owner.line[0]?.hasLeft()) dropHead(owner)?.start(false);
      if (owner.line.length === 0) continue;
      if (tryStart(owner)) {
        dropHead(owner)?.start(true);
        refused = 0;
      } else {
        refused++;
      }
      if (owner.line.length > 0) turns.push(owner);
    }
    if (waiting === 0) sweeper = void clearInterval(sweeper);
  };

  const refuseLate = () => {
    const oldest = clock() - limits.waitMs;
    for (const owner of turns) {
      while (owner.line[0] !== undefined && owner.line[0].since <= oldest) {
        dropHead(owner)?.refuse(tooManyRequests('Too many requests of this API key are waiting; try again shortly.'));
      }
    }
    startNext();
  };

  return {
    startNext,
    wait(owner, since, hasLeft) {
      // As much as the others leave free, as everywhere in shares.ts.
      if (owner.line.length >= limits.waiting - waiting) {
        throw tooManyRequests('Too many requests of this API key at once; try again shortly.');
      }
      const { promise, resolve, reject } = Promise.withResolvers<boolean>();
      if (owner.line.push({ since, hasLeft, start: resolve, refuse: reject }) === 1) turns.push(owner);
      waiting++;
      sweeper ??= setInterval(refuseLate, SWEEP_MS).unref();
      return promise;
    },
  };
}
