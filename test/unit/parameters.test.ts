import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { ApiError } from '../../src/errors.ts';
import {
  AFTER,
  LIMIT,
  type QueryParameter,
  readNewPet,
  readPetId,
  readQuery,
  STATUS,
} from '../../src/rest/parameters.ts';

const PARAMETERS: readonly QueryParameter<unknown>[] = [LIMIT, STATUS, AFTER];
const query = (text: string) => new URLSearchParams(text);

/** The ApiError that `work` throws. */
function refusalOf(work: () => unknown): ApiError {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}

describe('readQuery', () => {
  it.each(PARAMETERS)('$name absent is null', (parameter) => {
    expect(readQuery(query('other=1'), parameter)).toBeNull();
  });

  it.each(PARAMETERS)('$name empty is refused, by name and with what is allowed', (parameter) => {
    const refusal = refusalOf(() => readQuery(query(`${parameter.name}=`), parameter));
    expect(refusal.code).toBe('bad_request');
    expect(refusal.message).toContain(parameter.name);
    expect(refusal.message).toContain(parameter.allowed);
  });

  test('a parameter given twice is refused, even with the same good value', () => {
    expect(refusalOf(() => readQuery(query('limit=5&limit=5'), LIMIT)).code).toBe('bad_request');
    expect(refusalOf(() => readQuery(query('status=sold&status=sold'), STATUS)).code).toBe('bad_request');
    expect(refusalOf(() => readQuery(query('after=5&after=5'), AFTER)).code).toBe('bad_request');
  });

  test('limit takes 1 to 100 in decimal digits', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), (limit) => {
        expect(LIMIT.parse(String(limit))).toBe(limit);
      }),
    );
  });

  test('limit takes nothing else', () => {
    const text = fc.oneof(
      fc
        .integer()
        .filter((number) => number < 1 || number > 100)
        .map(String),
      fc
        .double()
        .filter((number) => !Number.isInteger(number))
        .map(String),
      fc.string().filter((word) => !/^\d+$/.test(word)),
      fc.bigInt({ min: 101n, max: 10n ** 400n }).map(String),
    );
    fc.assert(
      fc.property(text, (value) => {
        expect(LIMIT.parse(value)).toBeUndefined();
      }),
    );
  });

  test('status takes the three words and nothing else', () => {
    const words = ['available', 'pending', 'sold'];
    expect(words.map((word) => STATUS.parse(word))).toEqual(words);
    const other = fc.oneof(
      fc.string(),
      fc.constantFrom('Sold', 'SOLD', ' sold', 'sold ', 'toString', '__proto__', '0'),
    );
    fc.assert(
      fc.property(other, (word) => {
        expect(STATUS.parse(word)).toBe(words.find((known) => known === word));
      }),
    );
  });
});

describe('readPetId', () => {
  test('takes every canonical 64-bit integer', () => {
    const id = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
    fc.assert(
      fc.property(id, (text) => {
        expect(readPetId(text)).toBe(text);
      }),
    );
  });

  test('anything else is an animal that was not found', () => {
    const other = fc.oneof(
      fc.string(),
      fc.bigInt({ min: 2n ** 63n }).map(String),
      fc.nat().map((id) => `0${id}`),
    );
    fc.assert(
      fc.property(
        other.filter((text) => !/^(0|-?[1-9]\d{0,17})$/.test(text)),
        (text) => {
          expect(refusalOf(() => readPetId(text)).code).toBe('not_found');
        },
      ),
    );
  });
});

describe('readNewPet', () => {
  const wellFormed = fc.string({ unit: 'binary' });
  const integer = fc.maxSafeInteger();
  const status = fc.constantFrom('available', 'pending', 'sold');

  test('gives the three fields of any good body and ignores the rest', () => {
    fc.assert(
      fc.property(
        wellFormed,
        integer,
        fc.option(status, { nil: undefined }),
        fc.object(),
        (name, categoryId, word, more) => {
          const body = { ...more, name, categoryId, ...(word && { status: word }) };
          if (word === undefined) delete (body as { status?: unknown }).status; // fc.object may have made one
          expect(readNewPet(body)).toEqual({ name, categoryId: String(categoryId + 0), status: word ?? null });
        },
      ),
    );
  });

  test('never throws anything but bad_request', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true }), (body) => {
        try {
          readNewPet(body);
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError);
          expect(error).toHaveProperty('code', 'bad_request');
        }
      }),
    );
  });

  it.each(['name', 'categoryId'])('a missing %s is called required', (field) => {
    const body: Record<string, unknown> = { name: 'Rex', categoryId: 1 };
    delete body[field];
    expect(refusalOf(() => readNewPet(body)).message).toMatch(new RegExp(`^${field} is required`));
  });

  it.each(['name', 'categoryId'])('an inherited %s does not count', (field) => {
    const body: unknown = Object.assign(
      Object.create({ [field]: 1 }),
      field === 'name' ? { categoryId: 1 } : { name: '' },
    );
    expect(refusalOf(() => readNewPet(body)).message).toMatch(new RegExp(`^${field} is required`));
  });
});
