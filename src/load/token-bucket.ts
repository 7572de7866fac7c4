/** Gives at most `most` tokens at once, and `perSecond` more each second, of the clock `now`, which is in ms. */
export function createTokenBucket(most: number, perSecond: number, now: () => number) {
  let tokens = most;
  let filledAt = now();
  return {
    /** Whether there is a token. */
    hasToken(): boolean {
      const moment = now();
      tokens = Math.min(most, tokens + ((moment - filledAt) / 1000) * perSecond);
      filledAt = moment;
      return tokens >= 1;
    },
    /** Takes one, even where there is none: then it is owed. */
    take() {
      tokens--;
    },
  };
}
