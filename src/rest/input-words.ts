import { QUOTED_MAX } from '../errors.ts';
import { maskValue } from '../key-mask.ts';

/** How much of a longer one is looked at. */
const READ_MAX = 400;
const CUT_PAIR = /[\ud800-\udbff]$/;
// What would break the line of a message, or turn the direction of its text.
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/**
 * A text of an input as a message quotes it: its first 100 characters, well-formed and on one line. An API key that was
 * pasted into the wrong place is not sent back, encoded once too often or not.
 */
export function quoteInput(text: string): string {
  const read = text.slice(0, READ_MAX); // masked first: a part of a key is not known as one
  const masked = maskValue(read);
  const start = masked.length > QUOTED_MAX ? `${masked.slice(0, QUOTED_MAX).replace(CUT_PAIR, '')}…` : masked;
  return start.toWellFormed().replace(UNPRINTABLE, '\ufffd');
}

/** What came as a JSON value (see `parseJson`), as a message names it. */
export function nameInput(value: unknown): string {
  if (typeof value === 'string') return `"${quoteInput(value)}"`;
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  // NaN stands for a number that only rounding would make an integer.
  if (typeof value === 'number' && !Number.isFinite(value)) return 'a number out of range or with a fraction';
  return quoteInput(String(value));
}
