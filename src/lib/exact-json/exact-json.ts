/**
 * 64-bit integers without loss. JavaScript numbers are exact up to 2^53 only, so an Int64 is a canonical decimal text, which JSON
 * writes as a number with all its digits.
 */

declare const int64: unique symbol;

/** A signed 64-bit integer as canonical decimal text: no plus, no leading zero, no `-0`. */
export type Int64 = string & { readonly [int64]: true };

/** A 64-bit integer from a database: a number up to 2^53, else an Int64. `String` gives the same digits of both. */
export type Integer64 = Int64 | number;

/** Converts a 64-bit integer from a database to an Int64. */
export function toInt64(id: Integer64): Int64 {
  return String(id) as Int64; // `String` of either type gives canonical digits
}

const MAX = 2n ** 63n - 1n;
const MIN = -(2n ** 63n);

/** Parses a text; undefined when it is not the canonical decimal form of a 64-bit integer. */
export function parseInt64(text: string): Int64 | undefined {
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return undefined;
  // Up to 18 digits always fit; only the longest need the comparison.
  if (text.length > 18 && !inRange(BigInt(text))) return undefined;
  return text as Int64; // proven by the checks above
}

/** Converts a JSON value (see `parseJson`); undefined when it is not a 64-bit integer. */
export function int64FromJson(value: unknown): Int64 | undefined {
  if (typeof value === 'bigint') return inRange(value) ? (String(value) as Int64) : undefined; // canonical by String()
  return Number.isSafeInteger(value) ? (String(value) as Int64) : undefined; // `String` of -0, which JSON allows, is 0
}

function inRange(value: bigint): boolean {
  return value >= MIN && value <= MAX;
}

/** At least as many values as a JSON text has, and at most twice as many: what `parseJson` makes of it costs in proportion. */
export function boundOfValues(text: string): number {
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA || code === BRACKET || code === BRACE) values++;
  }
  return values;
}

const [QUOTE, COMMA, BRACKET, BRACE, BACKSLASH] = [0x22, 0x2c, 0x5b, 0x7b, 0x5c] as const;
const [DOT, ZERO, NINE, E, LOWER_CASE] = [0x2e, 0x30, 0x39, 0x65, 0x20] as const;

/** The position of the quote that ends the string which begins at `start`; the text's length if none does. */
function endOfString(text: string, start: number): number {
  let end = start;
  for (let backslashes = 1; backslashes % 2 === 1; ) {
    end = text.indexOf('"', end + 1);
    if (end < 0) return text.length;
    for (backslashes = 0; text.charCodeAt(end - 1 - backslashes) === BACKSLASH; ) backslashes++;
  }
  return end;
}

/** A double distinguishes all decimals of up to so many digits (IEEE 754 binary64). */
const EXACT_DIGITS = 15;

/** Whether JSON.parse may round a number of the text: a longer one, or one with an exponent. What strings have does not count. */
function mayRound(text: string): boolean {
  let digits = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= ZERO && code <= NINE) {
      if (++digits > EXACT_DIGITS) return true;
    } else if (digits > 0 && (code | LOWER_CASE) === E) return true;
    else if (code === QUOTE) at = endOfString(text, at);
    else if (code !== DOT) digits = 0;
  }
  return false;
}

/**
 * JSON.parse that never rounds an integer: an integer that a double cannot hold becomes a bigint. A fraction that a double
 * would round to an integer, and an integer of more than 30 digits, become a Number that only quotes its source. Throws SyntaxError, and RangeError when the text is nested too deeply.
 */
export function parseJson(text: string): unknown {
  if (!mayRound(text)) return JSON.parse(text);
  // Source text access: https://github.com/tc39/proposal-json-parse-with-source
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source !== undefined ? exactNumber(value, context.source) : value,
  );
}

function exactNumber(rounded: number, source: string): unknown {
  const [mantissa = '', exponent = '0'] = source.split(/[eE]/);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = whole.replace('-', '') + fraction;
  const first = digits.search(/[1-9]/);
  if (first < 0) return 0;
  let end = digits.length; // a loop, because /0+$/ takes time by the square of the zeros
  while (digits.charAt(end - 1) === '0') end--;
  // The value is `significant` times ten to the power of `zeros`.
  const significant = digits.slice(first, end);
  const zeros = Number(exponent) - fraction.length + (digits.length - end);
  if (zeros < 0) return Number.isInteger(rounded) ? quotedNumber(source) : rounded;
  // No field takes more than 19 digits: 1e999999999 is refused without writing out its digits.
  if (significant.length + zeros > 30) return quotedNumber(source);
  const exact = BigInt((source.startsWith('-') ? '-' : '') + significant + '0'.repeat(zeros));
  return Number.isSafeInteger(rounded) && BigInt(rounded) === exact ? rounded : exact;
}

/**
 * A Number of no kind. Messages quote it by `toString`, those of graphql-js by `toJSON`. Both are enumerable, so that it is
 * no input object: those of GraphQL refuse unknown fields.
 */
function quotedNumber(source: string): unknown {
  const quote = () => source;
  return Object.assign(new Number(Number.NaN), { toString: quote, toJSON: quote });
}
