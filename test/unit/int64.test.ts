import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { boundOfValues, int64FromJson, parseInt64, parseJson } from '../../src/lib/exact-json/exact-json.ts';
import { always } from '../support/properties.ts';

const MAX = 2n ** 63n - 1n;
const MIN = -(2n ** 63n);
const anyInt64 = fc.oneof(
  fc.bigInt({ min: MIN, max: MAX }),
  fc.bigInt({ min: MAX - 1000n, max: MAX }),
  fc.bigInt({ min: MIN, max: MIN + 1000n }),
  fc.bigInt({ min: 2n ** 53n - 1000n, max: 2n ** 53n + 1000n }),
);
const beyondInt64 = fc.oneof(fc.bigInt({ min: MAX + 1n }), fc.bigInt({ max: MIN - 1n }));

const digits = (constraints: { minLength: number; maxLength: number }) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), ...constraints });

interface Spelling {
  readonly minus: string;
  readonly whole: string;
  readonly fraction: string;
  readonly mark: string;
  readonly plus: string;
  readonly exponent: number | null;
}

/** Every form that RFC 8259 §6 gives a number, most of them near the borders of int64. */
const spelling: fc.Arbitrary<Spelling> = fc.record({
  minus: fc.constantFrom('', '-'),
  whole: fc.oneof(
    fc.bigInt({ min: 0n, max: 2n ** 65n }).map(String),
    fc.constantFrom('0', '1', '9007199254740993', '9223372036854775807', '9223372036854775808', '922337203685477580'),
  ),
  fraction: fc.oneof(
    fc.constant(''),
    digits({ minLength: 1, maxLength: 25 }),
    fc.integer({ min: 1, max: 30 }).map((length) => '0'.repeat(length)),
  ),
  mark: fc.constantFrom('e', 'E'),
  plus: fc.constantFrom('', '+'),
  exponent: fc.option(fc.integer({ min: -40, max: 40 })),
});

function spell({ minus, whole, fraction, mark, plus, exponent }: Spelling): string {
  const sign = exponent !== null && exponent >= 0 ? plus : '';
  return `${minus}${whole}${fraction && `.${fraction}`}${exponent === null ? '' : `${mark}${sign}${exponent}`}`;
}

/** The mathematical value as numerator and denominator, by BigInt alone. */
function fractionOf({ minus, whole, fraction, exponent }: Spelling): { numerator: bigint; denominator: bigint } {
  const power = BigInt((exponent ?? 0) - fraction.length);
  const scaled = BigInt(`${minus}${whole}${fraction}`);
  return power >= 0n
    ? { numerator: scaled * 10n ** power, denominator: 1n }
    : { numerator: scaled, denominator: 10n ** -power };
}

describe('parseInt64', () => {
  test('gives back the canonical text of every 64-bit integer', () => {
    always(anyInt64, (value) => expect(parseInt64(String(value))).toBe(String(value)));
  });

  test('refuses every integer beyond 64 bits', () => {
    always(beyondInt64, (value) => expect(parseInt64(String(value))).toBeUndefined());
  });

  test('takes a text only when BigInt writes the same text for it', () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'0123456789-+. eE_n') }));
    always(text, (candidate) => {
      if (parseInt64(candidate) !== undefined) expect(String(BigInt(candidate))).toBe(candidate);
    });
  });

  it.each(['', '-', '-0', '+1', '01', '-01', ' 1', '1 ', '1\n', '1.0', '1e2', '0x10', '1_000', '１', '٣', 'NaN'])(
    'refuses %j',
    (text) => expect(parseInt64(text)).toBeUndefined(),
  );
});

describe('parseJson with int64FromJson', () => {
  test('takes a number exactly when it is mathematically a 64-bit integer, however it is spelled', () => {
    const check = (parts: Spelling) => {
      const { numerator, denominator } = fractionOf(parts);
      const value = numerator / denominator;
      const fits = numerator % denominator === 0n && value >= MIN && value <= MAX;
      expect(int64FromJson(parseJson(spell(parts)))).toBe(fits ? String(value) : undefined);
    };
    always(spelling, check, { numRuns: 3000 });
  });

  it.each([
    ['0e999999999999999999999', '0'],
    ['1e-400', undefined],
    ['-1e-99999999999999999999', undefined],
    ['1e999999999', undefined],
    [`1${'0'.repeat(60_000)}`, undefined],
    [`0.${'0'.repeat(60_000)}1`, undefined],
    ['"1"', undefined],
    ['true', undefined],
    ['null', undefined],
    ['[1]', undefined],
    ['{}', undefined],
  ])('%.40s is %s', (text, value) => expect(int64FromJson(parseJson(text))).toBe(value));
});

describe('parseJson', () => {
  const exactNumbersOnly = (_key: string, value: unknown) =>
    typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value) ? null : value;

  test('gives what JSON.parse gives, but for numbers that would be rounded to an integer', () => {
    always(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value, exactNumbersOnly);
      expect(JSON.stringify(parseJson(text))).toBe(JSON.stringify(JSON.parse(text)));
    });
  });

  test('leaves digits within strings and names alone', () => {
    const digitText = fc.string({ unit: fc.constantFrom(...'0123456789.eE-"\\') });
    always(fc.tuple(digitText, digitText), ([name, value]) => {
      const json = `{${JSON.stringify(`x${name}`)}:${JSON.stringify(value)},"big":9223372036854775807}`;
      expect(parseJson(json)).toEqual({ [`x${name}`]: value, big: 9223372036854775807n });
    });
  });

  test('refuses what JSON.parse refuses, and nothing else', () => {
    const nearJson = fc.oneof(
      fc.json(),
      fc.string(),
      fc.string({ unit: fc.constantFrom(...'{}[]",:0123456789eE.-+tfn ') }),
    );
    const isJson = (text: string, parse: (text: string) => unknown): boolean => {
      try {
        parse(text);
        return true;
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError);
        return false;
      }
    };
    always(nearJson, (text) => expect(isJson(text, parseJson)).toBe(isJson(text, JSON.parse)));
  });
});

test('boundOfValues is at least the number of values, at most twice that, and ends for what is no JSON', () => {
  const count = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? Object.values(value).reduce<number>((sum, inner) => sum + count(inner), 1)
      : 1;
  always(fc.tuple(fc.jsonValue(), fc.constantFrom(undefined, 1)), ([value, space]) => {
    const bound = boundOfValues(JSON.stringify(value, null, space));
    expect(bound).toBeGreaterThanOrEqual(count(value));
    expect(bound).toBeLessThanOrEqual(2 * count(value));
  });
  always(fc.string({ unit: fc.constantFrom(...'{}[]",:\\') }), (text) =>
    expect(boundOfValues(text)).toBeGreaterThan(0),
  );
  // What is within a string is no value, whatever is escaped there.
  expect(boundOfValues(String.raw`["\\","\",{[\\\"",",[{",1]`)).toBe(5);
});
