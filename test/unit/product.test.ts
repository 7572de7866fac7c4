import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, test } from 'vitest';
import { readCommit, VERSION } from '../../src/gateway/product.ts';
import { SQLITE, temporaryFolder } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';

const HASH = '0123456789abcdef0123456789abcdef01234567';
const OTHER = 'f'.repeat(40);
const FILE = 'src/gateway/revision.txt';
const LOG = '.git/logs/HEAD';
/** What git notes when it checks out one commit after the other: https://git-scm.com/docs/git-reflog */
const logOf = (...commits: string[]) =>
  commits.map((commit) => `${'0'.repeat(40)} ${commit} Ann <ann@example.com> 1 +0000\tcheckout: main\n`).join('');

it.each([
  ['nothing', {}, ''],
  ['what a clone has there', { [FILE]: '$Format:%H$\n' }, ''],
  ['what git puts into a tarball', { [FILE]: `${HASH}\n` }, '0123456789ab'],
  ['a short commit', { [FILE]: '17f7aaf\n' }, '17f7aaf'],
  ['what is no commit', { [FILE]: 'main\n' }, ''],
  ['what goes on after a commit', { [FILE]: '17f7aaf-dirty"\n' }, ''],
  ['what is checked out', { [LOG]: logOf(OTHER, HASH) }, '0123456789ab'],
  ['a clone before its first commit', { [LOG]: '' }, ''],
  ['an image that was built in a clone', { [FILE]: HASH, [LOG]: logOf(OTHER) }, '0123456789ab'],
])('the commit of %s', (_what, files, commit) => {
  const root = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  expect(readCommit(pathToFileURL(`${root}/`)).join()).toBe(commit);
});

test('the overview and the metrics tell the build', async () => {
  const gateway = await startGateway(SQLITE);
  expect((await gateway.request('/')).text).toContain(`<li>Version ${VERSION}</li>`);
  expect((await gateway.request('/metrics')).text).toContain(
    `petstore_build_info{version="${VERSION}",node="${process.version}"} 1`,
  );
  expect(VERSION).toMatch(/^\d+\.\d+\.\d+(?:\+[0-9a-f]{7,12})?$/);
});
