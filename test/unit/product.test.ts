import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, test } from 'vitest';
import { BUILD, REVISION, readRevision, VERSION } from '../../src/gateway/product.ts';
import { SQLITE, temporaryFolder } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';

const HASH = '0123456789abcdef0123456789abcdef01234567';
const OTHER = 'f'.repeat(40);
const FILE = 'src/revision.txt';

it.each([
  ['nothing', {}, ''],
  ['what a clone has there', { [FILE]: '$Format:%H$\n' }, ''],
  ['what git puts into a tarball', { [FILE]: `${HASH}\n` }, '0123456789ab'],
  ['a short commit', { [FILE]: '17f7aaf\n' }, '17f7aaf'],
  ['what is no commit', { [FILE]: 'main\n' }, ''],
  ['what goes on after a commit', { [FILE]: '17f7aaf-dirty"\n' }, '17f7aaf'],
  ['a commit that is checked out', { '.git/HEAD': `${HASH}\n` }, '0123456789ab'],
  ['a branch', { '.git/HEAD': 'ref: refs/heads/a/b\n', '.git/refs/heads/a/b': `${HASH}\n` }, '0123456789ab'],
  [
    'a branch that is packed',
    { '.git/HEAD': 'ref: refs/heads/b\n', '.git/packed-refs': `# x \n${OTHER} refs/heads/a/b\n${HASH} refs/heads/b\n` },
    '0123456789ab',
  ],
  ['a branch before its first commit', { '.git/HEAD': 'ref: refs/heads/b\n' }, ''],
  ['an image that was built in a clone', { [FILE]: HASH, '.git/HEAD': OTHER }, '0123456789ab'],
])('the commit of %s', (_what, files, revision) => {
  const root = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  expect(readRevision(pathToFileURL(`${root}/`))).toBe(revision);
});

test('the overview and the metrics tell the build', async () => {
  const gateway = await startGateway(SQLITE);
  expect((await gateway.request('/')).text).toContain(`<li>Version ${BUILD}</li>`);
  expect((await gateway.request('/metrics')).text).toContain(
    `petstore_build_info{version="${VERSION}",revision="${REVISION}",node="${process.version}"} 1`,
  );
  expect(BUILD).toMatch(/^\d+\.\d+\.\d+(?:\+[0-9a-f]{7,12})?$/);
});
