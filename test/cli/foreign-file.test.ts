import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/engines.ts';
import { runBlock } from '../support/page-blocks.ts';
import { run } from '../support/process.ts';
import { has } from '../support/tools.ts';
import { ROOT } from '../support/tracked-files.ts';
import { expectFailure } from './command.ts';

const CALLS = [
  [['main.ts']],
  [['cli/doctor.ts']],
  [['cli/migrate.ts']],
  [['cli/migrate.ts', '--status']],
  [['cli/keys.ts', 'list']],
  [['cli/keys.ts', 'create', '--name', 'app']],
  [['cli/seed.ts', '--pets', '1']],
  [['cli/deprecation-report.ts', 'report']],
];

test.each(CALLS)("%j refuses somebody's CSV by name, and leaves it as it is", async ([file = '', ...words]) => {
  const folder = join(temporaryFolder(), 'shared');
  const csv = join(folder, 'animals.csv');
  mkdirSync(folder);
  writeFileSync(csv, 'id,name\n1,Rex\n');
  chmodSync(csv, 0o664);
  chmodSync(folder, 0o2775);
  const state = () => [
    readdirSync(folder),
    readFileSync(csv, 'utf8'),
    ...[folder, csv].map((path) => [statSync(path).mode, statSync(path).mtimeMs]),
  ];
  const before = state();
  const { exited, stdout, stderr } = run(file, words, { DATABASE_URL: `sqlite:${csv}`, PORT: '0' });
  const { code } = await exited;
  const line = `DATABASE_URL: ${csv} is not used and stays as it is: file is not a database; name another file, or move this one away`;
  expectFailure({ code, stdout: stdout(), stderr: stderr() }, 2, new RegExp(`^${line}$`));
  expect(state()).toEqual(before);
});

const MAIN = `node "${join(ROOT, 'src/main.ts')}"`;
/** Root may do whatever the modes of files say, unless it lacks these capabilities. */
const BY_MODES = process.getuid?.() === 0 ? `setpriv --bounding-set -dac_override,-dac_read_search ${MAIN}` : MAIN;
const DENIED =
  /^DATABASE_URL: \S+ may not be read and written by the user \d+: give it the right \(EACCES: [^\n]+\)\n$/;

type Case = readonly [what: string, block: string, line: RegExp];
const READ_ONLY: Case = [
  'file system',
  `unshare -rm sh -c 'mount --bind "$PWD" "$PWD" && mount -o remount,bind,ro "$PWD" && cd "$PWD" && ${MAIN}'`,
  /^DATABASE_URL: \S+ is on a file system that is mounted read-only: mount it for writing \(EROFS: [^\n]+\)\n$/,
];

test.each<Case>([
  ['file', `chmod 0 data/pets.sqlite; ${BY_MODES}`, DENIED],
  ['folder', `chmod 0500 data; ${BY_MODES}; code=$?; chmod 0700 data; exit $code`, DENIED],
  ['log, which another user left', `: > data/pets.sqlite-wal; chmod 0 data/pets.sqlite-wal; ${BY_MODES}`, DENIED],
  ...(has('namespaces') ? [READ_ONLY] : []),
])('a store whose %s may not be written is a matter of rights', async (_what, block, line) => {
  const folder = temporaryFolder();
  const env = { DATABASE_URL: 'sqlite:data/pets.sqlite', PORT: '0', LOG_LEVEL: 'error' };
  expect((await run('cli/migrate.ts', [], env, folder).exited).code).toBe(0);
  const { code, stderr } = await runBlock(block, folder, env);
  expect(stderr).toMatch(line);
  expect(code).toBe(2);
});
