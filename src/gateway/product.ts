import { readFileSync } from 'node:fs';
import packageJson from '../../package.json' with { type: 'json' };

/** What this program is called where the outside relies on it: in keys, metrics, named locks and challenges. */
export const PRODUCT = 'petstore';

/** The version of this code. */
export const VERSION = packageJson.version;

/** The commit of this code, by twelve digits at most; an empty text where nothing tells it. */
export const REVISION = readRevision(new URL('../', import.meta.url));

/** Names one build: https://semver.org/#spec-item-10 */
export const BUILD = REVISION === '' ? VERSION : `${VERSION}+${REVISION}`;

/** What the image or the tarball in this folder says in a file, else what its `.git` says; runs no git. */
export function readRevision(root: URL): string {
  const read = (path: string) => {
    try {
      return readFileSync(new URL(path, root), 'utf8').trim();
    } catch {
      return '';
    }
  };
  const head = read('.git/HEAD');
  const ref = head.replace(/^ref: /, '');
  const packed = read('.git/packed-refs').split('\n');
  const told = [read('src/revision.txt'), head, read(`.git/${ref}`), packed.find((line) => line.endsWith(` ${ref}`))];
  return told.map((text) => /^[0-9a-f]{7,12}(?=[0-9a-f]*\b)/.exec(text ?? '')?.[0]).find(Boolean) ?? '';
}
