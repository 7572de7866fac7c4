import { PRODUCT } from './product.ts';

/** How an API key begins. */
export const KEY_PREFIX = `${PRODUCT}_`;

const KEY = new RegExp(`${KEY_PREFIX}\\w+`, 'g');

/**
 * A key whose letters, or whose beginning, somebody encoded: a run of 30 and more letters and digits, each as it is or
 * percent-encoded, once or several times. No path of ours has so long a word.
 */
const LONG_WORD = /(?:[\dA-Za-z]|%(?:25)*[3-7][\dA-Fa-f]){30,}/g;

/** A text that nobody encoded, such as a value of JSON, with every API key in it replaced: for messages. */
export function maskPlainKeys(text: string): string {
  return text.replace(KEY, `${KEY_PREFIX}***`);
}

/** A text from a URL, with whatever may be an API key in it replaced by `***`: for logs and messages. */
export function maskKeys(text: string): string {
  return maskPlainKeys(text).replace(LONG_WORD, '***');
}

/** Whether a text holds what looks like an API key. */
export function holdsKey(text: string): boolean {
  return text.search(KEY) >= 0;
}
