import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { describeOnMysql } from '../support/engines.ts';
import { ROOT } from '../support/tracked-files.ts';

/** Runs the first block of code in the README of a library, within its folder; gives the README and what the code printed. */
async function runReadme(library: string, change = (code: string) => code) {
  const cwd = join(ROOT, 'src/lib', library);
  const readme = readFileSync(join(cwd, 'README.md'), 'utf8');
  const [, code = ''] = /```ts\n(.*?)```/s.exec(readme) ?? [];
  const args = ['--input-type=module-typescript', '--eval', change(code)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
  return { readme, lines: stdout.trim().split('\n') };
}

const asJson = (code: string) => code.replaceAll(/console\.log\((.*)\);/g, 'console.log(JSON.stringify($1));');

describe('the use in the README is as it says', () => {
  test.each([
    ['batcher', ['asked: 1,2,3', 'answers: 1,4,9,4']],
    ['deadline', ['the first is late', 'the second is late']],
    ['fair-shares', ['begun: flood,flood,polite', 'at last: flood,flood,flood,flood,polite']],
  ])('%s', async (library, expected) => {
    const { readme, lines } = await runReadme(library);
    expect(lines).toEqual(expected);
    for (const line of lines) expect(readme).toContain(`\`${line}\``);
  });

  test.each([
    ['mysql-errors', asJson, 2, (line: string) => `\`${line}\``],
    ['node-sqlite', asJson, 1, (line: string) => `It gives \`${line}\`.`],
    ['ordered-http', undefined, 1, (line: string) => `It prints \`${line}\`.`],
  ] as const)('%s', async (library, change, count, inReadme) => {
    const { readme, lines } = await runReadme(library, change);
    expect(lines).toHaveLength(count);
    for (const line of lines) expect(readme).toContain(inReadme(line));
  });

  test('graphql-plan', async () => {
    const { readme, lines } = await runReadme('graphql-plan', asJson);
    const { dataJson, errors } = JSON.parse(lines.join());
    expect(readme).toContain(`\`dataJson\` is \`${dataJson}\``);
    expect(errors.map(({ path }: { path: string[] }) => path.join('.'))).toEqual(['books.1.name']);
  });
});

describeOnMysql('the use in the README is as it says', (engine) => {
  test('mysql-pool', async () => {
    const url = await engine.freshDatabase();
    const { readme, lines } = await runReadme('mysql-pool', (code) =>
      asJson(code)
        .replaceAll(/00\b/g, '000') // ten times as long, for a machine with other work
        .replace(/process\.env\.MYSQL_URL/, JSON.stringify(url)),
    );
    expect(readme).toContain(`\`${lines.join()}\``);
  });
});
