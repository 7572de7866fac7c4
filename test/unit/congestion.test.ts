import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createCongestionMeter } from '../../src/database/batching/congestion.ts';
import { createShortestTime, createWayMeter, noteTime } from '../../src/database/time-meter.ts';

/** A meter that was told of so many statements, each so many ms long. */
function meterOf(wayMs: number, ...seen: readonly (readonly [count: number, ms: number])[]) {
  const meter = createCongestionMeter(() => wayMs);
  for (const [count, ms] of seen) for (let index = 0; index < count; index++) meter.note(ms);
  return meter;
}

describe('congestion of the database', () => {
  test.each([
    ['nothing known', Number.POSITIVE_INFINITY, [], false],
    ['near, undisturbed', 0.2, [[50, 0.3]], false],
    [
      'near, each statement waits for others',
      0.2,
      [
        [1, 0.3],
        [50, 0.9],
      ],
      true,
    ],
    ['near, on a slow disk', 0.2, [[50, 10]], false],
    [
      'near, one in fifty is lost on its way',
      0.2,
      [
        [49, 0.3],
        [1, 200],
        [49, 0.3],
      ],
      false,
    ],
    ['far', 10, [[50, 10]], false],
    [
      'far, and late',
      10,
      [
        [1, 10],
        [50, 30],
      ],
      false,
    ],
  ] as const)('%s', (_what, wayMs, seen, congested) => {
    expect(meterOf(wayMs, ...seen).isCongested()).toBe(congested);
  });

  test('patience is longer than most statements, and ends', () => {
    expect(meterOf(0, [100, 0.4]).patienceMs()).toBeGreaterThan(0.4);
    expect(meterOf(0, [100, 300]).patienceMs()).toBeLessThanOrEqual(10);
  });
});

test('the shortest time is what it says, and not known at first', () => {
  const shortest = createShortestTime(60_000);
  expect(shortest.ms()).toBe(Number.POSITIVE_INFINITY);
  for (const ms of [3, 1, 2]) shortest.note(ms);
  expect(shortest.ms()).toBe(1);
});

test('the shortest time is forgotten, however long nothing was noted', async () => {
  const shortest = createShortestTime(5);
  shortest.note(1);
  await delay(11);
  shortest.note(9);
  expect(shortest.ms()).toBe(9);
});

test('what is refused took no time that says anything', async () => {
  const noted: number[] = [];
  const note = (ms: number) => void noted.push(ms);
  await expect(noteTime(note, () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(noted).toEqual([]);
  expect(await noteTime(note, () => Promise.resolve('answered'))).toBe('answered');
  expect(noted).toHaveLength(1);
});

describe('the way to a database', () => {
  /** A meter that was told of answers which take so long, and some of them longer. */
  const meterAfter = (...answers: readonly (readonly [count: number, ms: (index: number) => number])[]) => {
    const meter = createWayMeter();
    for (const [count, ms] of answers) for (let index = 0; index < count; index++) meter.note(ms(index));
    return meter.ms();
  };
  const near = (index: number) => (index % 4 === 0 ? 0.4 : 3); // three of four wait for the process
  const far = (index: number) => (index % 100 === 0 ? 0.3 : 3 + (index % 5)); // one of a hundred is chance

  test.each([
    ['not known', Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, []],
    ['near, and the process busy', 0.4, 1, [[500, near]]],
    ['far, with lucky answers', 2, 4, [[500, far]]],
    [
      'far after near, as after a failover',
      2,
      4,
      [
        [500, near],
        [2000, far],
      ],
    ],
    [
      'near after far',
      0.4,
      1,
      [
        [500, far],
        [500, near],
      ],
    ],
  ] as const)('%s', (_what, least, most, answers) => {
    expect(meterAfter(...answers)).toBeGreaterThanOrEqual(least);
    expect(meterAfter(...answers)).toBeLessThanOrEqual(most);
  });
});
