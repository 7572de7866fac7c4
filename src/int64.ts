/**
 * 64-bit integers without loss, for both APIs. JavaScript numbers are exact up to 2^53 only, so an
 * Int64 is its canonical decimal text, in JSON a bare number with all its digits.
 */

declare const int64: unique symbol;

/** A signed 64-bit integer as canonical decimal text: no plus, no leading zero, no `-0`. */
export type Int64 = string & { readonly [int64]: true };

/** A 64-bit integer as a database gives it: a number where that is exact, else Int64. Both print the same digits. */
export type Integer64 = Int64 | number;

/** A 64-bit integer as a database gives it, as an Int64. */
export function toInt64(id: Integer64): Int64 {
  return String(id) as Int64; // the type of both says that they print canonical digits
}

const MAX = 2n ** 63n - 1n;
const MIN = -(2n ** 63n);

/** `text` as an Int64, or undefined when it is no canonical decimal number of that range. */
export function parseInt64(text: string): Int64 | undefined {
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return undefined;
  // Up to 18 digits always fit; only the longest need the comparison.
  if (text.length > 18 && !inRange(BigInt(text))) return undefined;
  return text as Int64; // the check above is what the brand stands for
}

/** A JSON value (see `parseJson`) as an Int64, or undefined when it is no integer of that range. */
export function int64FromJson(value: unknown): Int64 | undefined {
  if (typeof value === 'bigint') return inRange(value) ? (String(value) as Int64) : undefined; // canonical by String()
  // Adding 0 turns -0, which JSON can say, into 0.
  return Number.isSafeInteger(value) ? (String((value as number) + 0) as Int64) : undefined; // isSafeInteger proves number
}

function inRange(value: bigint): boolean {
  return value >= MIN && value <= MAX;
}

// A double holds every decimal of up to 15 digits apart from all others (IEEE 754 binary64): only longer
// digit runs, and exponents, can be something else than the number JSON.parse makes of them.
const MAY_ROUND = /\d[\d.]{15}|\d[eE]/;

/**
 * JSON.parse that never rounds an integer: one that a double cannot hold comes as a bigint, and a number
 * that only rounding would make an integer comes as NaN. Throws SyntaxError (RangeError when nested too deeply).
 */
export function parseJson(text: string): unknown {
  if (!MAY_ROUND.test(text)) return JSON.parse(text);
  // Source text access: https://github.com/tc39/proposal-json-parse-with-source
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source !== undefined ? exactNumber(value, context.source) : value,
  );
}

function exactNumber(rounded: number, source: string): number | bigint {
  const mark = source.search(/[eE]/);
  const mantissa = mark < 0 ? source : source.slice(0, mark);
  const exponent = mark < 0 ? 0 : Number(source.slice(mark + 1));
  const point = mantissa.indexOf('.');
  const fractionDigits = point < 0 ? 0 : mantissa.length - point - 1;
  const digits = mantissa.replace(/[-.]/g, '');
  const first = digits.search(/[1-9]/);
  if (first < 0) return 0;
  let end = digits.length; // a loop: /0+$/ would be tried anew at each zero
  while (digits.charAt(end - 1) === '0') end--;
  // The value is `significant` times ten to the power of `zeros`.
  const significant = digits.slice(first, end);
  const zeros = exponent - fractionDigits + (digits.length - end);
  if (zeros < 0) return Number.isInteger(rounded) ? Number.NaN : rounded;
  // Nothing of ours takes more than 19 digits: 10^999999999 must not be written out to learn that.
  if (significant.length + zeros > 30) return Number.NaN;
  const exact = BigInt((source.startsWith('-') ? '-' : '') + significant + '0'.repeat(zeros));
  return Number.isSafeInteger(rounded) && BigInt(rounded) === exact ? rounded : exact;
}
