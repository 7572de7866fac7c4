import { PRODUCT } from './product.ts';

/** How an API key begins. */
export const KEY_PREFIX = `${PRODUCT}_`;

/** An API key. A key that is cut by up to three other characters, such as a `+` (a space in URLs), matches as a whole. */
const KEY = new RegExp(`${KEY_PREFIX}[\\w+]+(?:\\W{1,3}\\w{12,})*`, 'g');

/**
 * An encoded ASCII character as URLs (`%41`) and JSON (`\u0041`) have it; its `%` may itself be encoded repeatedly. Only the first of
 * several backslashes begins a match: else each of them would look through all that follow.
 */
const ENCODED = /(?:(?:%|(?<!\\)\\+)u(?:00|\{0*)|(?<!\\)\\+x|%(?:25)*)(2[1-9a-f]|[3-6][\da-f]|7[\da-e])\}?/gi;
/** How many layers of encoding are decoded; a text with more is masked as a whole. */
const ROUNDS_MAX = 4;

/** A word that may be an API key without its prefix. It is longer than every word in the paths of this service. */
const LONG_WORD = /[\w+]{30,}/g;

/** How many characters of an input a message quotes at most, in either API. */
export const QUOTED_MAX = 100;
/** How many more characters are read than shown: an API key is recognized and masked only as a whole. */
const READ_AHEAD = 400;
const TRAILING_HIGH_SURROGATE = /[\ud800-\udbff]$/;
// Characters that would break the line of a message or change the direction of its text.
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Quotes an input for a message: its first 100 characters, well-formed, on one line, with API keys masked. */
export function quoteInput(text: string): string {
  return printable(cut(maskStart(text, QUOTED_MAX), QUOTED_MAX));
}

/** A text on one line, whose characters stand in their order. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, '\ufffd');
}

/** The start of a text from outside, from which at least `length` characters will be shown, with every API key masked. */
export function maskStart(text: string, length: number): string {
  const start = cut(text, length + READ_AHEAD);
  return start.search(ENCODED) < 0 ? maskPlain(start) : maskUrl(start);
}

/** The first `maxLength` characters of a text, well-formed; `…` stands for the others. */
export function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text.toWellFormed();
  return `${text.slice(0, maxLength).replace(TRAILING_HIGH_SURROGATE, '').toWellFormed()}…`;
}

/** Replaces everything in a URL that may be an API key, encoded or not, by `***`, for use in logs and messages. */
export function maskUrl(text: string): string {
  const plain = decode(text);
  if (plain === undefined) return '***';
  const masked = maskKeys(plain).replace(LONG_WORD, '***');
  return masked === plain ? text : masked;
}

/** Whether a text contains an API key. */
export function holdsKey(text: string): boolean {
  return text.search(KEY) >= 0;
}

function maskKeys(text: string): string {
  return text.replace(KEY, `${KEY_PREFIX}***`);
}

function maskPlain(text: string): string {
  const isRandom = (word: string) => /\d/.test(word) && /[a-z]/i.test(word);
  return maskKeys(text).replace(LONG_WORD, (word) => (isRandom(word) ? '***' : word));
}

/** Decodes the encoded characters of a text; undefined when there are more than `ROUNDS_MAX` layers. */
function decode(text: string): string | undefined {
  let decoded = text;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    if (decoded.search(ENCODED) < 0) return decoded;
    decoded = decoded.replace(ENCODED, (_encoded, code) => String.fromCharCode(Number.parseInt(code, 16)));
  }
  return undefined;
}

/** `scheme://user@…` without a password. Web addresses are excluded, because their user may be a token. */
const USER_ONLY = /^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[^:@/%]*@[^@]*$/i;

const HOSTS = /(?:[\w.-]+|\[[\da-f:]+\])(?::\d+)?(?:,(?:[\w.-]+|\[[\da-f:]+\])(?::\d+)?)*/.source;
/** The address before its options, as lib/mysql-pool reads it: an @ in a path of them ends no password. */
const WITH_OPTIONS = new RegExp(`^(mysql://(?:[^:@/]*(?::.*)?@)?${HOSTS}/[^/?#@]+)(\\?[^#]*)$`);

/** Replaces the passwords of addresses in `text` by `***`. */
export function maskCredentials(text: string): string {
  const [, address = text, options = ''] = WITH_OPTIONS.exec(text) ?? [];
  // Greedy up to the last @, because a password may hold an @, / or : that is not percent-encoded.
  const masked = USER_ONLY.test(address)
    ? address
    : address.replace(/^([a-z][a-z0-9+.-]*:\/*)?([^:@/]*):(.*)@/i, '$1$2:***@');
  // Query parameters: passwords as other drivers write them, and TLS options as JSON, which may hold a private key.
  return `${masked}${options}`.replaceAll(/([?&](?:password|pwd|ssl(?==(?:\{|%7b)))=)[^&]*/gi, '$1***');
}
