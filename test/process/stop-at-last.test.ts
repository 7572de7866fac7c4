import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../support/process.ts';

const SOURCE = join(import.meta.dirname, '../../src');
const ENDLESS = relative(SOURCE, join(import.meta.dirname, 'endless.ts'));

test.each([
  ['a signal', 'SIGTERM', 0],
  ['a fault that nothing caught', 'fault', 1],
])('a stop after %s that never comes to its end is over after the grace all the same', async (_what, word, code) => {
  const { exited, stdout, stderr } = run(ENDLESS, [word]);
  expect([await exited, stderr()]).toEqual([{ code, signal: null }, '']);
  expect(stdout()).toMatch(/stopping"}\n$/);
});
