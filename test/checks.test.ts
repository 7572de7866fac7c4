import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { ROOT } from './support/tracked-files.ts';

// What `npm run check` does, beside the other tests instead of before them.
const CHECKS = Object.keys(packageJson.scripts).filter((name) => name.startsWith('check:'));

test.concurrent.each(CHECKS)('npm run %s', { timeout: 300_000 }, async (name) => {
  const told = await promisify(execFile)('npm', ['run', '-s', name], { cwd: ROOT }).then(
    () => 'well',
    ({ stdout, stderr }) => `${stdout}${stderr}`,
  );
  expect(told).toBe('well');
});
