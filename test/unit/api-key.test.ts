import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { generateApiKey, hashApiKey, isApiKey, visiblePrefix } from '../../src/gateway/keys/api-key.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LENGTH = 'petstore_'.length + 32 + 6;

/** A real key, new for each run of a property. */
const apiKey = fc.noShrink(fc.constant(0).map(generateApiKey));
const base62Character = fc.constantFrom(...ALPHABET);

function fromBase62(text: string): number {
  return [...text].reduce((value, character) => value * 62 + ALPHABET.indexOf(character), 0);
}

/** A text with its checksum. */
function checked(body: string): string {
  let [rest, digits] = [crc32(body), ''];
  for (; digits.length < 6; rest = Math.floor(rest / 62)) digits = ALPHABET.charAt(rest % 62) + digits;
  return body + digits;
}

describe('generateApiKey', () => {
  test('gives petstore_, 32 random characters and 6 of checksum, all of base 62', () => {
    fc.assert(
      fc.property(apiKey, (key) => {
        expect(key).toMatch(/^petstore_[0-9A-Za-z]{38}$/);
      }),
    );
  });

  test('ends with the CRC-32 of what stands before, in base 62', () => {
    fc.assert(
      fc.property(apiKey, (key) => {
        expect(fromBase62(key.slice(-6))).toBe(crc32(key.slice(0, -6)));
      }),
    );
  });

  test('never gives the same key again', () => {
    const keys = Array.from({ length: 2000 }, generateApiKey);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('uses every character about equally often', () => {
    const counts = new Map<string, number>();
    for (const character of Array.from({ length: 2000 }, () => generateApiKey().slice(9, 41)).join('')) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    const expected = (2000 * 32) / ALPHABET.length;
    const chiSquare = [...ALPHABET].reduce((sum, c) => sum + ((counts.get(c) ?? 0) - expected) ** 2 / expected, 0);
    // 61 degrees of freedom: above 150 with a probability of about 10^-9.
    expect(chiSquare).toBeLessThan(150);
  });
});

describe('isApiKey', () => {
  test('takes every generated key', () => {
    fc.assert(
      fc.property(apiKey, (key) => {
        expect(isApiKey(key)).toBe(true);
      }),
    );
  });

  test('catches every change of one character', () => {
    const position = fc.nat({ max: LENGTH - 1 });
    fc.assert(
      fc.property(apiKey, position, base62Character, (key, at, character) => {
        fc.pre(key[at] !== character);
        expect(isApiKey(key.slice(0, at) + character + key.slice(at + 1))).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  test('catches two neighbours that changed places', () => {
    fc.assert(
      fc.property(apiKey, fc.nat({ max: LENGTH - 2 }), (key, at) => {
        const [left = '', right = ''] = key.slice(at, at + 2);
        fc.pre(left !== right);
        expect(isApiKey(key.slice(0, at) + right + left + key.slice(at + 2))).toBe(false);
      }),
    );
  });

  test('catches a character too many or too few', () => {
    fc.assert(
      fc.property(apiKey, fc.nat({ max: LENGTH - 1 }), base62Character, (key, at, character) => {
        expect(isApiKey(key.slice(0, at) + key.slice(at + 1))).toBe(false);
        expect(isApiKey(key.slice(0, at) + character + key.slice(at))).toBe(false);
      }),
    );
  });

  test('refuses any other text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(isApiKey(text)).toBe(false);
      }),
    );
  });

  it.each([
    ['a space before', (key: string) => ` ${key}`],
    ['a line break after', (key: string) => `${key}\n`],
    ['another prefix', (key: string) => key.replace('petstore_', 'petst0re_')],
    ['a prefix in capitals', (key: string) => key.replace('petstore_', 'PETSTORE_')],
    ['no prefix', (key: string) => key.slice('petstore_'.length)],
  ])('refuses a key with %s, even if its checksum is right', (_what, change) => {
    const key = generateApiKey();
    expect(checked(key.slice(0, -6))).toBe(key);
    const changed = change(key);
    expect([changed, checked(changed.slice(0, -6))].map(isApiKey)).toEqual([false, false]);
  });
});

describe('what is kept of a key', () => {
  test('the hash is its SHA-256 in hexadecimal', () => {
    fc.assert(
      fc.property(apiKey, (key) => {
        expect(hashApiKey(key)).toBe(createHash('sha256').update(key).digest('hex'));
      }),
    );
  });

  test('the visible prefix leaves 34 characters out, 28 of them random', () => {
    fc.assert(
      fc.property(apiKey, (key) => {
        expect(key.startsWith(visiblePrefix(key))).toBe(true);
        expect(visiblePrefix(key)).toHaveLength(LENGTH - 34);
      }),
    );
  });
});
