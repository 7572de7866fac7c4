import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { ROOT } from '../support/tracked-files.ts';

const run = (script: string, ...words: string[]) =>
  spawnSync(process.execPath, [`bench/${script}.ts`, ...words], { cwd: ROOT, encoding: 'utf8', timeout: 60_000 });

test.each(['answers', 'compare', 'distance', 'embedded', 'growth', 'run', 'scale', 'shapes', 'simulate'])(
  'bench/%s.ts tells its flags, and measures nothing meanwhile',
  (script) => {
    const { status, stdout, stderr } = run(script, '--help');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain(script === 'run' ? 'petstore_bench is dropped' : `node bench/${script}.ts`);
  },
);

const FOLDERS = ['--before', '.', '--after', '.'];

test.each([
  ['answers', '--before', '.', 'Say which: --before DIR'],
  ['compare', ...FOLDERS, '--engine', 'typo', '--engine "typo" must be among'],
  ['compare', ...FOLDERS, '--only', 'typo', '--only "typo" must be among'],
  ['compare', ...FOLDERS, '--warm-up', 'x', '--warm-up "x" must be a whole number'],
  ['distance', '--network', 'typo', '--network "typo" must be among'],
  ['embedded', '--seconds', '0.5', '--seconds "0.5" must be a whole number'],
  ['growth', '--rounds', '1', "Unknown option '--rounds'"],
  ['run', '--rounds', '0', '--rounds "0" must be a whole number'],
  ['scale', '--animals', 'x', '--animals "x" must be a whole number'],
  ['shapes', '--rounds', '0', '--rounds "0" must be a whole number'],
  ['simulate', '--rounds', 'x', '--rounds "x" must be a whole number'],
])('bench/%s.ts refuses a call that it cannot understand in one line', (script, ...words) => {
  const { status, stdout, stderr } = run(script, ...words.slice(0, -1));
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain(words.at(-1));
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
});
