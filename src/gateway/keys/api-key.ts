import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { ApiError } from '../errors.ts';
import { KEY_PREFIX } from '../masking.ts';

/*
 * PRODUCT_RRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRCCCCCC: a prefix for leak scanners, 32 random base-62 characters
 * (190 bits), and the CRC-32 of both in six characters. The checksum finds mistyped and made-up keys without
 * the database. The form is GitHub's:
 * https://github.blog/engineering/behind-githubs-new-authentication-token-formats/
 */
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const FORM = new RegExp(`^${KEY_PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);
/** The number of characters in a key. */
export const KEY_LENGTH = KEY_PREFIX.length + RANDOM_LENGTH + CHECKSUM_LENGTH;

/** Generates an API key. Show it once; store only its `hashApiKey`. */
export function generateApiKey(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length)));
  const body = KEY_PREFIX + random.join('');
  return body + checksum(body);
}

/** Whether `text` has the form of an API key and the right checksum. */
export function isApiKey(text: string): boolean {
  return FORM.test(text) && checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
}

/** The SHA-256 of a key, in hexadecimal. No salt and no stretching: 190 random bits cannot be guessed. */
export function hashApiKey(key: string): string {
  return hash('sha256', key, 'hex');
}

/** The part of a key that may be shown: the prefix and four of the other 38 characters. */
export function visiblePrefix(key: string): string {
  return key.slice(0, KEY_PREFIX.length + 4);
}

function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let digit = 0; digit < CHECKSUM_LENGTH; digit++) {
    text = ALPHABET.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** Who calls: what the API key of a request means. */
export interface Caller {
  readonly keyId: string;
  /** The id of the first key in a chain of rotations: the same for a key and its replacements. */
  readonly ownerId: string;
  /** False for a read-only key. */
  readonly mayWrite: boolean;
}

/** Throws ApiError `forbidden` for a read-only key. */
export function requireWrite({ mayWrite }: Caller): void {
  if (!mayWrite) throw new ApiError('forbidden', 'This API key may only read.');
}
