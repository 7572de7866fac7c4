import { expect, test } from 'vitest';
import { createReservation, holdBody, shareLimitsOf } from '../../src/gateway/http/admission.ts';
import { createShares, type Share, type Shares } from '../../src/lib/fair-shares/fair-shares.ts';
import { CONNECTION_BYTES } from '../../src/lib/ordered-http/ordered-http.ts';

const MB = 2 ** 20;
test.each([
  ['a small heap', 1, 240 * MB, 0, 40 * MB],
  ['a large heap', 1, 8000 * MB, 0, 384 * MB],
  ['no limit that a container could have', 1, 8000 * MB, 2 ** 64, 384 * MB],
  ['a container', 1, 8000 * MB, 512 * MB, 64 * MB],
  ['a container with four workers', 4, 8000 * MB, 512 * MB, 16 * MB],
])('what requests may hold follows the memory: %s', (_what, workers, heap, container, bytes) => {
  expect(shareLimitsOf(workers, 65_536, heap, container).bytes).toBe(bytes);
});

function isHeld(shares: Shares, share: Share): boolean {
  try {
    holdBody(shares, share, { 'content-length': '1' }, 65_536);
    return true;
  } catch {
    return false;
  }
}

test.each([256, 352, 1000, 8000])('requests never have all the connections that a heap of %i MB allows', (heapMb) => {
  const limits = shareLimitsOf(1, 65_536, heapMb * MB, 0);
  const connections = (heapMb * MB) / CONNECTION_BYTES;
  expect(limits.inFlight + limits.waiting).toBeLessThan(connections);
  const shares = createShares(limits);
  const share = shares.of('1');
  let bodies = 0;
  while (bodies < connections && isHeld(shares, share)) bodies++;
  expect(bodies).toBeLessThanOrEqual(Math.ceil(connections / 4));
});

test('the least reserved for an object follows the longest body', () => {
  expect([1024, 65_536, MB].map((limit) => shareLimitsOf(1, limit, 240 * MB, 0).objectBytes)).toEqual([
    65_536,
    65_536,
    MB,
  ]);
});

test.each([
  ['heap', 192 * MB, 0],
  ['container', 8000 * MB, 256 * MB],
])('in the smallest %s, the longest body finds room for the largest answer', (_what, heap, container) => {
  const limits = shareLimitsOf(1, 4 * MB, heap, container);
  const shares = createShares(limits);
  const share = shares.of('1');
  expect(shares.hold(share, 4 * MB)).toBe(true);
  expect(createReservation(shares, share, limits, { closed: false }).reserve(1000)).toBeUndefined();
});

test('a heap that cannot bear the longest bodies is refused, by what it needs', () => {
  expect(() => shareLimitsOf(1, 4 * MB, 191 * MB, 0)).toThrow(
    'BODY_LIMIT=4194304 needs a heap of 192 MB, and this one has 191: NODE_OPTIONS=--max-old-space-size=192, or a lower limit',
  );
  expect(shareLimitsOf(1, 4 * MB, 192 * MB, 0).objectBytes).toBe(4 * MB);
});

test('so is a container that cannot', () => {
  expect(() => shareLimitsOf(4, 4 * MB, 8000 * MB, 1023 * MB)).toThrow(
    'BODY_LIMIT=4194304 needs a container with WORKERS=4 of 1024 MB, and this one has 1023: fewer workers, or a lower limit',
  );
  expect(shareLimitsOf(4, 4 * MB, 8000 * MB, 1024 * MB).bytes).toBe(32 * MB);
});
