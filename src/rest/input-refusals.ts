import { ApiError, QUOTED_MAX } from '../errors.ts';
import { maskValue } from '../key-mask.ts';
import type { AnyKind } from '../kinds.ts';

/** How many characters of an input are looked at: an API key at the end of those that are quoted must be whole to be masked. */
const READ_MAX = 400;
const CUT_PAIR = /[\ud800-\udbff]$/;
// What would break the line of a message, or turn the direction of its text.
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** An input as a message quotes it: its first 100 characters, well-formed, on one line, with API keys masked. */
export function quoteInput(text: string): string {
  const masked = maskValue(text.slice(0, READ_MAX));
  const start = masked.length > QUOTED_MAX ? `${masked.slice(0, QUOTED_MAX).replace(CUT_PAIR, '')}…` : masked;
  return start.toWellFormed().replace(UNPRINTABLE, '\ufffd');
}

/** Throws the refusal of a JSON value (see `parseJson`) that a leaf does not allow; `path` leads to it in the body. */
export function refuseJson(leaf: AnyKind, path: string, value: unknown): never {
  const meant = leaf.suggest(value);
  const rule = `${path} must be ${leaf.allowed}`;
  if (meant === undefined) throw new ApiError('bad_request', `${rule}, not ${nameJson(value)}.`);
  const instead = leaf.write(leaf.fromText(meant));
  const type = instead.startsWith('"') ? '' : ', not a string';
  throw new ApiError('bad_request', `${rule}${type}: ${instead} instead of ${nameJson(value)}.`);
}

function nameJson(value: unknown): string {
  if (typeof value === 'string') return `"${quoteInput(value)}"`;
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  // `parseJson` gives NaN for a number that only rounding would make an integer.
  if (typeof value === 'number' && !Number.isFinite(value)) return 'a number out of range or with a fraction';
  return quoteInput(String(value));
}

/** The refusal of a parameter's text that its leaf does not allow. */
export function refuseText(leaf: AnyKind, name: string, text: string): ApiError {
  const meant = leaf.suggest(text);
  if (meant === undefined) return notAllowed(name, text, leaf.allowed);
  return new ApiError('bad_request', `${name}=${quoteInput(text)}: did you mean ${meant}?`);
}

/** The refusal of a parameter's text; `allowed` says what is allowed instead. */
export function notAllowed(name: string, text: string, allowed: string): ApiError {
  return new ApiError('bad_request', `${name}=${quoteInput(text)} is not allowed: ${allowed}.`);
}
