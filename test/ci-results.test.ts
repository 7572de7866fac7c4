import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from './support/engines.ts';
import { ROOT } from './support/tracked-files.ts';

type Outcome = 'passed' | 'failed' | 'hook failed';
type Files = Record<string, Outcome>;

/** A report as vitest's `json` reporter writes it, as far as it is read. */
function report(files: Files, success = !Object.values(files).some((outcome) => outcome !== 'passed')): object {
  const outcomes = Object.entries(files);
  const testResults = outcomes.map(([name, outcome]) => ({
    name,
    status: outcome === 'passed' ? outcome : 'failed',
    message: outcome === 'hook failed' ? 'a hook' : '',
    assertionResults:
      outcome === 'hook failed' ? [] : [{ fullName: `of ${name}`, status: outcome, failureMessages: ['why'] }],
  }));
  const count = (which: Outcome) => outcomes.filter(([, outcome]) => outcome === which).length;
  return { success, numPassedTests: count('passed'), numFailedTests: count('failed'), testResults };
}

function results(command: string, reports: Record<string, object>, names = ['slow']) {
  const folder = temporaryFolder();
  for (const [name, content] of Object.entries(reports))
    writeFileSync(join(folder, name.includes('.') ? name : `${name}.json`), JSON.stringify(content));
  const { status, stdout } = spawnSync('node', [join(ROOT, '.ci/results.mjs'), command, folder, ...names], {
    encoding: 'utf8',
  });
  return { status, lines: stdout.trimEnd().split('\n') };
}

describe('the results of .ci/run', () => {
  test.each<[what: string, reports: Record<string, object>, status: number, lines: string[]]>([
    ['all passed', { slow: report({ a: 'passed' }) }, 0, ['1 passed, 0 failed']],
    ['a test failed', { slow: report({ a: 'failed' }) }, 1, ['FAILED a: of a', 'why', '0 passed, 1 failed']],
    ['a hook failed', { slow: report({ a: 'hook failed' }) }, 1, ['FAILED a', 'a hook', '0 passed, 0 failed']],
    [
      'it passed when it ran alone',
      { slow: report({ a: 'failed', b: 'passed' }), 'slow-again': report({ a: 'passed' }) },
      0,
      ['!!! FAILED ONCE, and passed when it ran alone: a: of a', 'why', '1 passed, 1 failed'],
    ],
    [
      'it failed again',
      { slow: report({ a: 'failed' }), 'slow-again': report({ a: 'failed' }) },
      1,
      ['FAILED a: of a', 'why', '0 passed, 1 failed'],
    ],
    [
      'another passed when it ran alone',
      { slow: report({ a: 'failed' }), 'slow-again': report({ b: 'passed' }) },
      1,
      ['FAILED a: of a', 'why', '0 passed, 1 failed'],
    ],
    ['it has no report', {}, 1, ['FAILED: no report of slow', '0 passed, 0 failed']],
    [
      'no file failed, but the run',
      { slow: report({ a: 'passed' }, false) },
      1,
      ['FAILED: slow, and no test did', '1 passed, 0 failed'],
    ],
    [
      'what no test caught, beside a file that passed when it ran alone',
      { slow: report({ a: 'failed' }), 'slow-again': report({ a: 'passed' }), 'slow.unhandled': ['at a'] },
      1,
      [
        'FAILED: slow, by an error that no test caught',
        '["at a"]',
        '!!! FAILED ONCE, and passed when it ran alone: a: of a',
        'why',
        '0 passed, 1 failed',
      ],
    ],
  ])('%s', (_what, reports, status, lines) => {
    expect(results('print', reports)).toEqual({ status, lines });
  });

  test('the run on MySQL has tests', () => {
    const { status, lines } = results('print', { mysql: report({ a: 'passed' }) }, ['mysql']);
    expect([status, lines[0]]).toEqual([1, 'FAILED: only 1 tests of mysql passed']);
  });

  test('the files that failed are those of all runs', () => {
    const reports = { slow: report({ a: 'failed', b: 'passed' }), mysql: report({ c: 'hook failed' }) };
    expect(results('failed', reports, ['slow', 'mysql', 'none']).lines).toEqual(['a', 'c']);
  });
});
