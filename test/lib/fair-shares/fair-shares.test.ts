import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createShares, type Share, type ShareLimits, type Shares } from '../../../src/lib/fair-shares/fair-shares.ts';

const LIMITS: ShareLimits = {
  inFlight: 256,
  bytes: 1000,
  waiting: 400,
  waitMs: 2000,
  refusal: (why) => Object.assign(new Error(why), { why }),
};
afterEach(() => void vi.useRealTimers());

const STAYS = { closed: false };
const noClock = () => 0;

/** Begins a request, which does its first work; gives a promise if that is not at once. */
function begin(shares: Shares, share: Share, work: () => void, request = STAYS): Promise<void> | undefined {
  const queued = shares.begin(share, request);
  if (queued !== undefined) return queued.then(work);
  work();
  return undefined;
}

/** Begins `count` requests of a key that stay in flight; gives how many did at once, and what becomes of all. */
function beginMany(shares: Shares, share: Share, count: number, work: () => void = () => {}) {
  const all = Array.from({ length: count }, () => begin(shares, share, work));
  const outcomes = Promise.allSettled(all); // some tests leave them waiting
  return { begun: all.filter((waits) => waits === undefined).length, outcomes };
}

test('one key has 128 requests in flight, and the 129th when one of them is done', async () => {
  const shares = createShares(LIMITS, noClock);
  const alone = shares.of('1');
  const { begun, outcomes } = beginMany(shares, alone, 129);
  expect(begun).toBe(128);
  alone.release();
  expect(alone.inFlight).toBe(128); // at once
  await outcomes;
});

test('a further key begins at once, whatever one or two others hold and wait for', () => {
  const shares = createShares(LIMITS, noClock);
  for (const flooding of ['1', '2']) beginMany(shares, shares.of(flooding), 140);
  expect(beginMany(shares, shares.of('3'), 1).begun).toBe(1);
});

describe('a request that counts as several', () => {
  test('leaves room for fewer others, until it ends', async () => {
    const shares = createShares(LIMITS, noClock);
    const share = shares.of('1');
    const { begun } = beginMany(shares, share, 4);
    for (let request = 0; request < begun; request++) expect(shares.addInFlight(share, 30)).toBe(30);
    expect(beginMany(shares, share, 10).begun).toBe(4); // 124 + 4
    shares.removeInFlight(share, 30);
    await nextTurn();
    expect(share.inFlight).toBe(128 - 30 + 6); // what waited has begun
    share.release();
    expect(share.inFlight).toBe(103);
  });

  test('leaves some for every further key', () => {
    const shares = createShares(LIMITS, noClock);
    const counted = Array.from({ length: 8 }, (_, key) => {
      const share = shares.of(String(key));
      expect(beginMany(shares, share, 1).begun).toBe(1);
      return shares.addInFlight(share, 1000);
    });
    expect(counted).toEqual([127, 63, 31, 15, 7, 3, 1, 0]);
  });
});

describe('in one turn of the event loop', () => {
  test('no more begins when 3 ms are over, but for the first request of a further key', async () => {
    let now = 0;
    const shares = createShares(LIMITS, () => now);
    const work = () => {
      now += 2;
    };
    const run = (share: Share) => begin(shares, share, work);
    const [flooding, polite] = [shares.of('1'), shares.of('2')];
    const flood = Array.from({ length: 10 }, () => run(flooding));
    expect(flooding.inFlight).toBe(2);
    const asked = [run(polite), run(polite)];
    expect(polite.inFlight).toBe(1);
    await nextTurn();
    expect([flooding.inFlight, polite.inFlight]).toEqual([3, 2]); // one each, in turns
    await Promise.all([...flood, ...asked]);
    expect(flooding.inFlight).toBe(10);
  });

  test('who comes when there is time does not go before those that wait', async () => {
    let now = 0;
    const shares = createShares(LIMITS, () => now);
    const share = shares.of('1');
    const begun: string[] = [];
    const run = (name: string) =>
      begin(shares, share, () => {
        begun.push(name);
        now += 2;
      });
    const all = ['first', 'second', 'waits'].map(run);
    now = 0; // there is time again, but one waits
    await Promise.all([...all, run('late')]);
    expect(begun).toEqual(['first', 'second', 'waits', 'late']);
  });

  test('what is done without waiting does not begin the next one again and again', async () => {
    let now = 0;
    const shares = createShares(LIMITS, () => now);
    const share = shares.of('1');
    let done = 0;
    const request = () =>
      begin(shares, share, () => {
        now += 1;
        done++;
        share.release();
      });
    const all = Promise.all(Array.from({ length: 40 }, request));
    expect(done).toBe(3);
    await nextTurn();
    expect(done).toBeLessThanOrEqual(6);
    await all;
    expect(done).toBe(40);
  });
});

test('the keys take turns', async () => {
  const shares = createShares({ ...LIMITS, inFlight: 4 }, noClock);
  const [first, second] = [shares.of('1'), shares.of('2')];
  const order: string[] = [];
  const add = (name: string, share: Share) => void beginMany(shares, share, 1, () => order.push(name));
  add('first', first);
  add('first', first);
  add('second', second);
  for (let request = 0; request < 3; request++) add('first', first);
  for (let request = 0; request < 3; request++) add('second', second);
  order.length = 0;
  for (let round = 0; round < 3; round++) {
    first.release();
    if (second.inFlight > 0) second.release();
    await nextTurn();
  }
  expect(order.slice(0, 4).toSorted()).toEqual(['first', 'first', 'second', 'second']);
});

test('a queue has an end: in number, of which one key never has all, and in time', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const shares = createShares({ ...LIMITS, waiting: 40 }, noClock);
  const [flooding, other] = [shares.of('1'), shares.of('2')];
  const { outcomes } = beginMany(shares, flooding, 148);
  await expect(shares.begin(flooding, STAYS)).rejects.toThrow('queue full');
  const beside = beginMany(shares, other, 65);
  expect(beside.begun).toBe(64);
  vi.advanceTimersByTime(LIMITS.waitMs);
  const settled = await outcomes;
  expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(128);
  expect(settled.at(-1)).toMatchObject({
    status: 'rejected',
    reason: { why: 'late' },
  });
  expect((await beside.outcomes).at(-1)).toMatchObject({ reason: { why: 'late' } });
});

test('a pause of the process is no wait: what is free when it goes on is given out first', async () => {
  const shares = createShares({ ...LIMITS, inFlight: 2, waitMs: 400 });
  const share = shares.of('1');
  const { outcomes } = beginMany(shares, share, 2);
  setImmediate(() => setImmediate(share.release)); // behind the timers, as an answer that was sent meanwhile
  const pausedAt = performance.now();
  while (performance.now() - pausedAt < 700);
  expect(await outcomes).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }]);
  await expect(shares.begin(share, STAYS)).rejects.toThrow('late');
});

test.each([
  [-300, 'fulfilled'],
  [-50, 'rejected'],
])(
  'a wait that begins with %i ms left is %s: only a pause of the process makes so much less than 0',
  async (leftMs, status) => {
    const shares = createShares(LIMITS, noClock);
    const share = shares.of('1');
    shares.reserve(share, 400, STAYS);
    setTimeout(() => shares.freeReserved(share, 400), 50);
    expect(await Promise.allSettled([shares.reserve(share, 300, STAYS, leftMs)])).toMatchObject([{ status }]);
  },
);

test('after the last of a queue is refused for its time, the next request begins at once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const shares = createShares(LIMITS, noClock);
  const share = shares.of('1');
  const { outcomes } = beginMany(shares, share, 129);
  vi.advanceTimersByTime(LIMITS.waitMs);
  expect((await outcomes).at(-1)?.status).toBe('rejected');
  share.release();
  expect(beginMany(shares, share, 1).begun).toBe(1);
});

test('who is abandoned in the queue is never begun, and its place in the queue is free', async () => {
  const shares = createShares(LIMITS, noClock);
  const share = shares.of('1');
  beginMany(shares, share, 128);
  let begun = 0;
  const work = () => void begun++;
  const request = { closed: false };
  const gone = begin(shares, share, work, request);
  const next = begin(shares, share, work);
  request.closed = true;
  share.release();
  await expect(gone).rejects.toMatchObject({ why: 'abandoned' });
  await next;
  expect([begun, share.inFlight]).toEqual([1, 128]);
});

describe('bytes', () => {
  test('are bounded, and one key never has all of them', () => {
    const shares = createShares(LIMITS);
    const [greedy, other] = [shares.of('1'), shares.of('2')];
    for (let body = 0; body < 5; body++) expect(shares.hold(greedy, 100)).toBe(true);
    expect(shares.hold(greedy, 1)).toBe(false);
    expect(shares.hold(other, 250)).toBe(true);
    expect(shares.hold(other, 1)).toBe(false);
    shares.free(greedy, 500);
    expect(shares.hold(greedy, 300)).toBe(true);
  });

  test('are waited for in turn, and had when others are freed', async () => {
    const shares = createShares(LIMITS, noClock);
    const share = shares.of('1');
    expect(shares.reserve(share, 400, STAYS)).toBeUndefined();
    const large = shares.reserve(share, 300, STAYS);
    const small = shares.reserve(share, 50, STAYS); // there is room for it, but it is not its turn
    expect([large, small]).toEqual([expect.any(Promise), expect.any(Promise)]);
    expect(share.bytes).toBe(400);
    shares.freeReserved(share, 400);
    expect(share.bytes).toBe(300); // at once
    await Promise.all([large, small]);
    expect(share.bytes).toBe(350);
  });

  test.each([
    ['46 bodies of a hundredth, answers as large', [1], 46, 4, 4],
    ['bodies that fill the share, answers as large', [1], 48, 4, 4],
    ['bodies that fill the share, the largest answers', [1], 48, 4, 115],
    ['bodies of two keys that fill their shares', [1, 2], 48, 4, 64],
  ])('of bodies do not keep their own requests waiting: %s', async (_what, keys, count, body, answer) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }); // no wait ends by its time
    const shares = createShares({ ...LIMITS, bytes: 384 }, noClock);
    const counts = { refused: 0, done: 0, most: 0 };
    let held = 0;
    const add = (bytes: number) => {
      held += bytes;
      counts.most = Math.max(counts.most, held);
    };
    const request = async (share: Share) => {
      if (!shares.hold(share, body)) return void counts.refused++;
      add(body);
      await nextTurn(); // all bodies come before the first one is worked at
      await shares.begin(share, STAYS);
      await shares.reserve(share, answer, STAYS);
      add(answer);
      await nextTurn();
      add(-answer);
      shares.freeReserved(share, answer);
      share.release();
      add(-body);
      shares.free(share, body);
      counts.done++;
    };
    for (const key of keys) for (let body = 0; body < count; body++) void request(shares.of(String(key)));
    for (let turn = 0; turn < 3 * count; turn++) await nextTurn();
    expect(counts.done + counts.refused).toBe(keys.length * count);
    expect(counts.most).toBeLessThanOrEqual(384);
    expect(keys.map((key) => shares.of(String(key)).bytes)).toEqual(keys.map(() => 0));
  });

  test('are left for what cannot wait, whatever is reserved', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 333 }), { minLength: 30, maxLength: 60 });
    fc.assert(
      fc.property(sizes, (reserved) => {
        const shares = createShares({ ...LIMITS, waitMs: 0 }, noClock);
        const share = shares.of('1');
        for (const bytes of reserved) shares.reserve(share, bytes, STAYS)?.catch(() => {});
        expect(shares.hold(share, LIMITS.bytes / 8)).toBe(true);
      }),
    );
  });

  test('are refused when they are waited for too long, or the request is abandoned', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const shares = createShares(LIMITS, noClock);
    const share = shares.of('1');
    shares.reserve(share, 400, STAYS);
    const request = { closed: false };
    const gone = shares.reserve(share, 100, request);
    const late = shares.reserve(share, 100, STAYS);
    const outcomes = Promise.allSettled([gone, late]);
    request.closed = true;
    shares.free(share, 0);
    vi.advanceTimersByTime(LIMITS.waitMs);
    expect(await outcomes).toMatchObject([{ status: 'rejected' }, { reason: { why: 'late' } }]);
    expect(share.bytes).toBe(400);
  });

  test('are had when the request before is refused for its time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const shares = createShares(LIMITS, noClock);
    const share = shares.of('1');
    shares.reserve(share, 300, STAYS);
    const large = shares.reserve(share, 300, STAYS);
    vi.advanceTimersByTime(1000);
    const small = shares.reserve(share, 50, STAYS);
    vi.advanceTimersByTime(LIMITS.waitMs - 1000);
    expect(share.bytes).toBe(350);
    await expect(large).rejects.toMatchObject({ why: 'late' });
    await small;
    expect(vi.getTimerCount()).toBe(0);
  });
});

test('a key that holds nothing is forgotten among many, one that waits or holds is not', () => {
  const shares = createShares({ ...LIMITS, inFlight: 1 }, noClock);
  const [idle, flying, holding] = [shares.of('idle'), shares.of('flying'), shares.of('holding')];
  const waiting = shares.of('waiting');
  beginMany(shares, flying, 1);
  beginMany(shares, waiting, 1);
  expect(waiting.inFlight).toBe(0);
  shares.hold(holding, 1);
  for (let key = 0; key < 10_001 - 4; key++) shares.of(`key ${key}`); // one more than stay
  expect(shares.of('flying')).toBe(flying);
  expect(shares.of('holding')).toBe(holding);
  expect(shares.of('waiting')).toBe(waiting);
  expect(shares.of('idle')).not.toBe(idle);
});
