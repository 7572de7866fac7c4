import { QUOTED_MAX } from '../errors.ts';
import { maskValue } from '../key-mask.ts';

/** The longest message with its quotes, in characters. */
const MESSAGE_MAX = 400;

/** How many characters of a longer message are read. */
const READ_MAX = 2 * MESSAGE_MAX;

// In messages of graphql-js, input is in quotation marks, or follows one of these words to the end.
const QUOTED = /"(?:[^"\\]|\\.)*(?:"|$)|(?<=(?:found|Found|value): ).+$/gs;

/** Shortens a message of graphql-js: it then quotes at most the first 100 characters of the input, and no API key. */
export function shortMessage(whole: string): string {
  const message = maskValue(cut(whole, READ_MAX)); // masked before quotes are cut: a part of a key would not be recognized
  if (message.length <= QUOTED_MAX) return message;
  let left = QUOTED_MAX;
  const shortened = message.replace(QUOTED, (quoted) => {
    const shown = cut(quoted, left);
    left = Math.max(0, left - quoted.length);
    return shown;
  });
  return cut(shortened, MESSAGE_MAX);
}

/** Lists names from the input for a message, cut to the length that it may quote. */
export function listNames(names: readonly string[]): string {
  return cut(maskValue(names.slice(0, QUOTED_MAX).join(', ')), QUOTED_MAX);
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}
