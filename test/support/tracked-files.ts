import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the project. */
export const ROOT = join(import.meta.dirname, '../..');

/** The paths of the files that belong to the project, from its folder; new ones that git does not ignore, too. */
export const tracked: readonly string[] = execFileSync(
  'git',
  ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
  { cwd: ROOT, encoding: 'utf8' },
)
  .split('\0')
  .filter((path) => path !== '' && existsSync(join(ROOT, path)));
