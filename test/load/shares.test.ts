import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createShares, type Share, type ShareLimits, type Shares } from '../../src/load/shares.ts';

const LIMITS: ShareLimits = {
  placesAlone: 256,
  placesFewest: 4,
  waiting: 400,
  waitMs: 2000,
  bodyBytes: 1000,
  unsentSoftBytes: 100,
  unsentHardBytes: 1000,
};
const stays = () => false;

/** How many of `count` requests of a key find a place at once. */
function enterMany(shares: Shares, share: Share, count: number): number {
  let entered = 0;
  for (let request = 0; request < count; request++) {
    const turn = shares.enter(share, performance.now(), stays);
    if (turn === true) entered++;
    else turn.catch(() => {}); // some tests leave it waiting
  }
  return entered;
}

test('a key alone has 128 requests at work, and the 129th when one of them is done', async () => {
  const shares = createShares(LIMITS);
  const alone = shares.of('1');
  expect(enterMany(shares, alone, 128)).toBe(128);
  const next = shares.enter(alone, performance.now(), stays);
  expect(next).toBeInstanceOf(Promise);
  alone.leave();
  expect(await next).toBe(true);
  expect(alone.atWork).toBe(128);
});

test('a further key finds a place at once, whatever one or two others hold and wait for', () => {
  const shares = createShares(LIMITS);
  for (const flooding of ['1', '2']) enterMany(shares, shares.of(flooding), 140);
  expect(enterMany(shares, shares.of('3'), 1)).toBe(1);
});

test('beside another key, what is done without waiting gives its place back when the event loop has turned', async () => {
  const shares = createShares(LIMITS);
  const [flooding, polite] = [shares.of('1'), shares.of('2')];
  enterMany(shares, polite, 1);
  polite.leave();
  let done = 0;
  const request = async () => {
    const turn = shares.enter(flooding, performance.now(), stays);
    if (turn !== true) await turn;
    done++;
    flooding.leave();
  };
  const all = Promise.all(Array.from({ length: 40 }, request));
  await nextTurn();
  expect(done).toBeLessThan(40); // without turns, each would start the next one
  await all;
  expect(done).toBe(40);
});

test('the lines take turns', async () => {
  const shares = createShares({ ...LIMITS, placesAlone: 4 });
  const [first, second] = [shares.of('1'), shares.of('2')];
  const order: string[] = [];
  const wait = (name: string, share: Share) => {
    const turn = shares.enter(share, performance.now(), stays);
    if (turn !== true) void turn.then(() => order.push(name));
  };
  enterMany(shares, first, 2);
  enterMany(shares, second, 2);
  for (let request = 0; request < 3; request++) wait('first', first);
  for (let request = 0; request < 3; request++) wait('second', second);
  for (let round = 0; round < 3; round++) {
    first.leave();
    second.leave();
    await nextTurn();
    await nextTurn();
  }
  expect(order.slice(0, 4).toSorted()).toEqual(['first', 'first', 'second', 'second']);
});

test('a line has an end: in number, of which one key never has all, and in time', async () => {
  let now = 0;
  const shares = createShares({ ...LIMITS, waiting: 40 }, () => now);
  const [flooding, other] = [shares.of('1'), shares.of('2')];
  enterMany(shares, flooding, 128);
  const waiting = Array.from({ length: 20 }, () => shares.enter(flooding, now, stays));
  const outcomes = Promise.allSettled(waiting);
  expect(() => shares.enter(flooding, now, stays)).toThrow('at once');
  enterMany(shares, other, 1);
  const beside = shares.enter(other, now, stays);
  expect(beside).toBeInstanceOf(Promise);
  now = LIMITS.waitMs + 1;
  for (const outcome of await outcomes) {
    expect(outcome).toMatchObject({
      status: 'rejected',
      reason: { code: 'too_many_requests', headers: { 'Retry-After': '1' } },
    });
  }
  await expect(beside).rejects.toThrow('waiting');
});

test('who leaves the line takes no place, and its place in the line is free', async () => {
  const shares = createShares(LIMITS);
  const share = shares.of('1');
  enterMany(shares, share, 128);
  let left = false;
  const gone = shares.enter(share, performance.now(), () => left);
  const patient = shares.enter(share, performance.now(), stays);
  left = true;
  share.leave();
  expect(await gone).toBe(false);
  expect(await patient).toBe(true);
  expect(share.atWork).toBe(128);
});

test('bodies and unread answers are bounded, and one key never has all of either', () => {
  const shares = createShares(LIMITS);
  const [greedy, other] = [shares.of('1'), shares.of('2')];
  for (let body = 0; body < 5; body++) shares.holdBody(greedy, 100);
  expect(() => shares.holdBody(greedy, 100)).toThrow('bodies');
  shares.holdBody(other, 100);
  expect(shares.holdAnswer(greedy, 500)).toBe(true);
  expect(shares.holdAnswer(greedy, 1)).toBe(false);
  expect(shares.holdAnswer(other, 100)).toBe(true);
  expect(enterMany(shares, greedy, 1)).toBe(0); // until its answers are read
  shares.releaseBody(greedy, 500);
  shares.holdBody(greedy, 100);
});

test('of more than ten thousand keys those without a request are forgotten, and no others', () => {
  const shares = createShares(LIMITS);
  const [idle, busy] = [shares.of('idle'), shares.of('busy')];
  enterMany(shares, busy, 1);
  for (let key = 2; key < 10_000; key++) shares.of(String(key));
  expect(shares.of('idle')).toBe(idle);
  shares.of('one more');
  expect(shares.of('busy')).toBe(busy);
  expect(shares.of('idle')).not.toBe(idle);
});
