import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLruCache } from '../../src/lru-cache.ts';

test('what was used last is kept, and never more than allowed', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.array(fc.nat({ max: 20 }), { maxLength: 200 }), (half, uses) => {
      const most = 2 * half;
      const recent = createLruCache<number>(most);
      uses.forEach((use, index) => {
        const known = recent.get(String(use));
        const since = uses.lastIndexOf(use, index - 1);
        const others = since < 0 ? Number.POSITIVE_INFINITY : new Set(uses.slice(since + 1, index)).size;
        if (index === 0 || others >= most) expect(known).toBeUndefined();
        else if (others < half) expect(known).toBe(use);
        if (known === undefined) recent.set(String(use), use);
      });
    }),
  );
});

test('with sizes, what is kept is never larger than allowed, and nothing larger than half of it is kept', () => {
  const recent = createLruCache<string>(100, (_text, value) => value.length);
  recent.set('huge', 'x'.repeat(51));
  for (let index = 0; index < 20; index++) recent.set(String(index), 'x'.repeat(10));
  const kept = ['huge', ...Array.from({ length: 20 }, (_, index) => String(index))].filter((text) => recent.get(text));
  expect(kept.length).toBeGreaterThanOrEqual(5);
  expect(kept.length).toBeLessThanOrEqual(10);
  expect(kept).toContain('19');
  expect(kept).not.toContain('huge');
});
