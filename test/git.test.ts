import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { VERSION } from '../src/gateway/product.ts';
import { temporaryFolder } from './support/engines.ts';
import { has } from './support/tools.ts';
import { ROOT } from './support/tracked-files.ts';

// In a container of CI the checkout belongs to another user, which git refuses: safe.directory, https://git-scm.com/docs/git-config
const config = temporaryFolder({ gitconfig: '[safe]\n\tdirectory = *\n' });
const env = { ...process.env, GIT_CONFIG_GLOBAL: join(config, 'gitconfig') };

const run = (cwd: string, program: string, ...words: string[]) =>
  execFileSync(program, words, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

describe.runIf(has('git'))('what git makes of the repository', () => {
  test('with core.autocrlf every file has LF', () => {
    const folder = temporaryFolder();
    run(folder, 'git', 'clone', '--depth=1', '--config=core.autocrlf=true', `file://${ROOT}`, 'clone');
    const files = run(join(folder, 'clone'), 'git', 'ls-files', '--eol').trimEnd().split('\n');
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((line) => !/ w\/(?:lf|-text|none) /.test(line))).toEqual([]);
  });

  test('a tarball tells its commit, which is that of the clone', () => {
    const folder = temporaryFolder();
    const tar = join(folder, 'source.tar');
    run(ROOT, 'git', 'archive', `--output=${tar}`, 'HEAD', 'src/gateway/revision.txt');
    const told = run(folder, 'tar', '-xOf', tar);
    expect(told).toBe(run(ROOT, 'git', 'rev-parse', 'HEAD'));
    expect(VERSION.split('+')[1]).toBe(told.slice(0, 12));
  });
});
