import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/engines.ts';
import { run } from '../support/process.ts';
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
