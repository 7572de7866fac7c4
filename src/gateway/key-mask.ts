import { PRODUCT } from './product.ts';

/** How an API key begins. */
export const KEY_PREFIX = `${PRODUCT}_`;

/** An API key. A key that is cut by up to three other characters, such as a `+` (a space in URLs), matches as a whole. */
const KEY = new RegExp(`${KEY_PREFIX}[\\w+]+(?:\\W{1,3}\\w{12,})*`, 'g');

/** An encoded ASCII character as URLs (`%41`) and JSON (`\u0041`) have it; its `%` may itself be encoded repeatedly. */
const ENCODED = /(?:(?:%|\\+)u(?:00|\{0*)|\\+x|%(?:25)*)(2[1-9a-f]|[3-6][\da-f]|7[\da-e])\}?/gi;
/** How many layers of encoding are decoded; a text with more is masked as a whole. */
const ROUNDS_MAX = 4;

/** A word that may be an API key without its prefix. It is longer than every word in the paths of this service. */
const LONG_WORD = /[\w+]{30,}/g;

/** Replaces every API key, encoded or not, in a value from outside, for use in messages. */
export function maskValue(text: string): string {
  return text.search(ENCODED) < 0 ? maskPlain(text) : maskUrl(text);
}

/** Replaces everything in a URL that may be an API key, encoded or not, by `***`, for use in logs and messages. */
export function maskUrl(text: string): string {
  const plain = decode(text);
  if (plain === undefined) return '***';
  const masked = maskPlain(plain).replace(LONG_WORD, '***');
  return masked === plain ? text : masked;
}

/** Whether a text contains an API key. */
export function holdsKey(text: string): boolean {
  return text.search(KEY) >= 0;
}

function maskPlain(text: string): string {
  const isRandom = (word: string) => /\d/.test(word) && /[a-z]/i.test(word);
  return text.replace(KEY, `${KEY_PREFIX}***`).replace(LONG_WORD, (word) => (isRandom(word) ? '***' : word));
}

/** Decodes the encoded characters of a text; undefined when there are more than `ROUNDS_MAX` layers. */
function decode(text: string): string | undefined {
  let decoded = text;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const before = decoded;
    decoded = before.replace(ENCODED, (_encoded, code) => String.fromCharCode(Number.parseInt(code, 16)));
    if (decoded === before) return decoded;
  }
  return undefined;
}
