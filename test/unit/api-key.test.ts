import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { generateApiKey, hashApiKey, isApiKey, visiblePrefix } from '../../src/gateway/keys/api-key.ts';
import { always } from '../support/properties.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LENGTH = 'petstore_'.length + 32 + 6;

/** A real key, new for each run of a property. */
const apiKey = fc.noShrink(fc.constant(0).map(generateApiKey));
const base62Character = fc.constantFrom(...ALPHABET);

/** A text with its checksum. */
function checked(body: string): string {
  let [rest, digits] = [crc32(body), ''];
  for (; digits.length < 6; rest = Math.floor(rest / 62)) digits = ALPHABET.charAt(rest % 62) + digits;
  return body + digits;
}

describe('generateApiKey', () => {
  test('gives petstore_, 32 random characters and, in base 62, the CRC-32 of what stands before; isApiKey takes it', () => {
    always(apiKey, (key) => {
      expect(key).toMatch(/^petstore_[0-9A-Za-z]{38}$/);
      expect(checked(key.slice(0, -6))).toBe(key);
      expect(isApiKey(key)).toBe(true);
    });
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
  test('catches every change of one character', () => {
    const changes = fc.tuple(apiKey, fc.nat({ max: LENGTH - 1 }), base62Character);
    always(
      changes.filter(([key, at, character]) => key[at] !== character),
      ([key, at, character]) => expect(isApiKey(key.slice(0, at) + character + key.slice(at + 1))).toBe(false),
      { numRuns: 2000 },
    );
  });

  test('catches two neighbours that changed places', () => {
    const places = fc.tuple(apiKey, fc.nat({ max: LENGTH - 2 })).filter(([key, at]) => key[at] !== key[at + 1]);
    always(places, ([key, at]) => {
      const [left = '', right = ''] = key.slice(at, at + 2);
      expect(isApiKey(key.slice(0, at) + right + left + key.slice(at + 2))).toBe(false);
    });
  });

  test('catches a character too many or too few', () => {
    always(fc.tuple(apiKey, fc.nat({ max: LENGTH - 1 }), base62Character), ([key, at, character]) => {
      expect(isApiKey(key.slice(0, at) + key.slice(at + 1))).toBe(false);
      expect(isApiKey(key.slice(0, at) + character + key.slice(at))).toBe(false);
    });
  });

  test('refuses any other text', () => {
    always(fc.string(), (text) => expect(isApiKey(text)).toBe(false));
  });

  it.each([
    ['a space before', (key: string) => ` ${key}`],
    ['a line break after', (key: string) => `${key}\n`],
    ['another prefix', (key: string) => key.replace('petstore_', 'petst0re_')],
    ['a prefix in capitals', (key: string) => key.replace('petstore_', 'PETSTORE_')],
    ['no prefix', (key: string) => key.slice('petstore_'.length)],
  ])('refuses a key with %s, even if its checksum is right', (_what, change) => {
    const changed = change(generateApiKey());
    expect([changed, checked(changed.slice(0, -6))].map(isApiKey)).toEqual([false, false]);
  });
});

describe('what is kept of a key', () => {
  test('the hash is its SHA-256 in hexadecimal', () => {
    always(apiKey, (key) => expect(hashApiKey(key)).toBe(createHash('sha256').update(key).digest('hex')));
  });

  test('the visible prefix leaves 34 characters out, 28 of them random', () => {
    always(apiKey, (key) => expect(visiblePrefix(key)).toBe(key.slice(0, LENGTH - 34)));
  });
});
