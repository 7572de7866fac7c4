import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ROOT } from '../../support/tracked-files.ts';

test('the use in the README is as it says', async () => {
  const cwd = join(ROOT, 'src/lib/graphql-plan');
  const readme = readFileSync(join(cwd, 'README.md'), 'utf8');
  const [, code = ''] = /```ts\n(.*?)```/s.exec(readme) ?? [];
  const asJson = code.replace(/console\.log\((.*)\);/, 'console.log(JSON.stringify($1));');
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module-typescript', '--eval', asJson], {
    cwd,
  });
  const { dataJson, errors } = JSON.parse(stdout);
  expect(readme).toContain(`\`dataJson\` is \`${dataJson}\``);
  expect(errors.map(({ path }: { path: string[] }) => path.join('.'))).toEqual(['books.1.name']);
});
