import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLruCache } from '../../src/gateway/caches.ts';
import { always } from '../support/properties.ts';

test('the values used last stay cached, and the cache never exceeds its size', () => {
  always(
    fc.tuple(fc.integer({ min: 1, max: 8 }), fc.array(fc.nat({ max: 20 }), { maxLength: 200 })),
    ([half, uses]) => {
      const most = 2 * half;
      const cache = createLruCache<number>(most);
      uses.forEach((use, index) => {
        const known = cache.get(String(use));
        const since = uses.lastIndexOf(use, index - 1);
        const others = since < 0 ? Number.POSITIVE_INFINITY : new Set(uses.slice(since + 1, index)).size;
        if (index === 0 || others >= most) expect(known).toBeUndefined();
        else if (others < half) expect(known).toBe(use);
        if (known === undefined) cache.set(String(use), use);
      });
    },
  );
});

test('with sizes, the cache never exceeds its size, and a value larger than half of it is not cached', () => {
  const cache = createLruCache<string>(100, (_text, value) => value.length);
  cache.set('huge', 'x'.repeat(51));
  expect(cache.get('huge')).toBeUndefined();
  for (let index = 0; index < 20; index++) cache.set(String(index), 'x'.repeat(10));
  const cached = Array.from({ length: 20 }, (_, index) => String(index)).filter((text) => cache.get(text));
  expect(cached.length).toBeGreaterThanOrEqual(5);
  expect(cached.length).toBeLessThanOrEqual(10);
  expect(cached).toContain('19');
});
