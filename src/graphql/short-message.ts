import { QUOTED_MAX } from '../errors.ts';
import { maskValue } from '../key-mask.ts';

/** How long a message may be: its own words, and what it quotes. */
const MESSAGE_MAX = 400;

/** How much of a longer one is looked at. */
const READ_MAX = 2 * MESSAGE_MAX;

// What graphql-js takes from outside stands in quotation marks or ends the message after one of these words.
const QUOTED = /"(?:[^"\\]|\\.)*(?:"|$)|(?<=(?:found|Found|value): ).+$/gs;

/**
 * A message of graphql-js that quotes at most 100 characters of the input, the first ones, however much it was given, and no
 * API key.
 */
export function shortMessage(whole: string): string {
  const message = maskValue(cut(whole, READ_MAX)); // masked first: a part of a key is not known as one
  if (message.length <= QUOTED_MAX) return message;
  let left = QUOTED_MAX;
  const shortened = message.replace(QUOTED, (quoted) => {
    const shown = cut(quoted, left);
    left = Math.max(0, left - quoted.length);
    return shown;
  });
  return cut(shortened, MESSAGE_MAX);
}

/** Names from the input for a message of ours: as many as it may quote. */
export function listNames(names: readonly string[]): string {
  return cut(maskValue(names.slice(0, QUOTED_MAX).join(', ')), QUOTED_MAX);
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}
