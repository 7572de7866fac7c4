import { readFileSync } from 'node:fs';
import packageJson from '../../package.json' with { type: 'json' };

/** What this program is called where the outside relies on it: in keys, metrics, named locks and challenges. */
export const PRODUCT = 'petstore';

/** The version, and the commit where something tells it, such as `1.0.0+17f7aaf01234`: https://semver.org/#spec-item-10 */
export const VERSION = [packageJson.version, ...readCommit(new URL('../../', import.meta.url))].join('+');

/** Twelve digits at most, or nothing: what an image or a tarball says in a file, else the end of the log of a clone's HEAD. */
export function readCommit(root: URL): string[] {
  const read = (path: string) => {
    try {
      return readFileSync(new URL(path, root), 'utf8').trimEnd();
    } catch {
      return '';
    }
  };
  const [, checkedOut = ''] = read('.git/logs/HEAD').split('\n').at(-1)?.split(' ') ?? [];
  const told = [read('src/gateway/revision.txt'), checkedOut].find((text) => /^[0-9a-f]{7,}$/.test(text));
  return told === undefined ? [] : [told.slice(0, 12)];
}
