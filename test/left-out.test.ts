import { execFile } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from './support/engines.ts';
import { readLeftOut, unwantedTools } from './support/tools.ts';
import { ROOT } from './support/tracked-files.ts';

/** Runs a test file on a machine that has no Python; gives how the run ended, and all that it said. */
async function runWithoutPython(env: Record<string, string>): Promise<{ code: unknown; said: string }> {
  const bin = temporaryFolder();
  symlinkSync(process.execPath, join(bin, 'node'));
  symlinkSync('/bin/bash', join(bin, 'bash'));
  const words = [
    join(ROOT, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--project=quick',
    'test/unit/page-files.test.ts',
  ];
  const options = { cwd: ROOT, env: { PATH: bin, HOME: bin, NO_COLOR: '1', ...env } };
  return new Promise((resolve) => {
    execFile(process.execPath, words, options, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, said: stdout + stderr }),
    );
  });
}

describe('a tool that is not here', () => {
  test('is named at the end, once, with what brings it, and to .ci/run; what needs none runs', async () => {
    const all = join(temporaryFolder(), 'left-out');
    const { code, said } = await runWithoutPython({ CI_LEFT_OUT: all });
    expect(said).toMatch(/ 8 passed .* 2 skipped/);
    expect(said.match(/^!!! {3}.*$/gm)).toEqual(['!!!   python: apt install python3-requests']);
    expect(readLeftOut(all)).toEqual(['python: apt install python3-requests']);
    expect(code).toBe(0);
  });

  test('fails on CI', async () => {
    const { code, said } = await runWithoutPython({ CI: 'true' });
    expect(said).toContain('CI leaves nothing out, and here is no python: apt install python3-requests');
    expect(code).toBe(1);
  });
});

test('TEST_WITHOUT leaves out what it names, each a tool that is known, and nothing on CI', () => {
  expect(unwantedTools(' browser , python,', false)).toEqual(['browser', 'python']);
  expect(() => unwantedTools('browsers', false)).toThrow(/^TEST_WITHOUT=browsers is not allowed: it takes browser, /);
  expect(() => unwantedTools('python', true)).toThrow('TEST_WITHOUT=python is not allowed where CI=true');
});
