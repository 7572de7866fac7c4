import { describe, expect, test } from 'vitest';
import { createCanonicalizer, defineTable } from '../../src/gateway/store/table.ts';

const before = defineTable('books', { title: { kind: 'text' }, pages: { kind: 'int', optional: true } });
const after = defineTable('books', {
  title: { kind: 'text' },
  pages: { kind: 'int', optional: true },
  language: { kind: 'text', optional: true },
});
const write = createCanonicalizer(after);
const text = (value: unknown) => JSON.stringify(value);

describe('what a retry is compared by', () => {
  test.each([{ title: 'Emma' }, { title: 'Emma', pages: 474 }, { title: 'Emma', pages: null }])(
    'is the same when a field has been added since, and was not sent: %j',
    (book) => {
      expect(text(write(book))).toBe(text(createCanonicalizer(before)(book)));
    },
  );

  test('is the same for what is absent and what is null, in any order', () => {
    expect(text(write({ pages: null, title: 'Emma', language: undefined }))).toBe(text(write({ title: 'Emma' })));
  });

  test.each([
    [{ title: 'Emma' }, { title: 'Emma ' }],
    [{ title: 'Emma', pages: 1 }, { title: 'Emma' }],
    [
      { title: 'Emma', language: '1' },
      { title: 'Emma', pages: 1 },
    ],
    [{ title: 'language' }, { title: '', language: 'language' }],
  ])('is another one for %j than for %j', (one, other) => {
    expect(text(write(one))).not.toBe(text(write(other)));
  });
});
