import { join } from 'node:path';
import { globbySync } from 'globby';

/** The folder of the project. */
export const ROOT = join(import.meta.dirname, '../..');

/** The paths of the files that belong to the project, from its folder, as git has them. A tarball has no git. */
export const tracked: readonly string[] = globbySync('**', {
  cwd: ROOT,
  dot: true,
  gitignore: true,
  globalGitignore: true,
  ignore: ['.git'],
  followSymbolicLinks: false,
}).sort();
