// Runs in the browser: why a call has no answer.

/** How long a page waits for an answer. */
export const ANSWER_MS = 15_000;
// The words of Chromium, Firefox and Safari for a connection that cannot be made or breaks. Any other error is about the
// call itself, such as a header that no request can carry.
const AWAY = /^(?:Failed to fetch|NetworkError|Load failed|network error)/;

/** A sentence on what `fetch` threw. @param {unknown} error */
export function callFailure(error) {
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return `No answer came within ${ANSWER_MS / 1000} seconds.`;
  }
  const message = error instanceof Error ? error.message : String(error);
  return `The call could not be made: ${AWAY.test(message) ? 'the gateway cannot be reached.' : message}`;
}
