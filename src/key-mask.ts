import { PRODUCT } from './product.ts';

/** How an API key begins. */
export const KEY_PREFIX = `${PRODUCT}_`;

/** With what follows a `+`, which URLs read as a space, or any other character that cuts the key. */
const KEY = new RegExp(`${KEY_PREFIX}[\\w+]+(?:\\W{1,3}\\w{12,})*`, 'g');

/** A letter as URLs and JSON may write it, with its `%` encoded however often. */
const ENCODED = /(?:(?:%|\\+)u(?:00|\{0*)|\\+x|%(?:25)*)(2[1-9a-f]|[3-6][\da-f]|7[\da-e])\}?/gi;
/** Nobody who means well encodes what is encoded in more ways than these. */
const ROUNDS_MAX = 4;

/** What may be a key without its beginning. No path of ours has so long a word. */
const LONG_WORD = /[\w+]{30,}/g;

/** A value from outside with every API key in it, encoded or not, replaced: for messages. */
export function maskValue(text: string): string {
  return text.search(ENCODED) < 0 ? maskPlain(text) : maskUrl(text);
}

/** A text from a URL with whatever may be an API key in it, encoded or not, replaced by `***`: for logs and messages. */
export function maskUrl(text: string): string {
  const plain = decode(text);
  if (plain === undefined) return '***';
  const masked = maskPlain(plain).replace(LONG_WORD, '***');
  return masked === plain ? text : masked;
}

/** Whether a text holds what looks like an API key. */
export function holdsKey(text: string): boolean {
  return text.search(KEY) >= 0;
}

function maskPlain(text: string): string {
  const isRandom = (word: string) => /\d/.test(word) && /[a-z]/i.test(word);
  return text.replace(KEY, `${KEY_PREFIX}***`).replace(LONG_WORD, (word) => (isRandom(word) ? '***' : word));
}

/** A text without encoded letters; undefined when they are encoded too often. */
function decode(text: string): string | undefined {
  let decoded = text;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const before = decoded;
    decoded = before.replace(ENCODED, (_encoded, code) => String.fromCharCode(Number.parseInt(code, 16)));
    if (decoded === before) return decoded;
  }
  return undefined;
}
