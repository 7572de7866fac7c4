import { expect, test } from 'vitest';
import { runReadme } from '../run-readme.ts';

test('the use in the README is as it says', async () => {
  const asJson = (code: string) => code.replace(/console\.log\((.*)\);/, 'console.log(JSON.stringify($1));');
  const { readme, stdout } = await runReadme('node-sqlite', asJson);
  expect(readme).toContain(`It gives \`${stdout.trim()}\`.`);
});
