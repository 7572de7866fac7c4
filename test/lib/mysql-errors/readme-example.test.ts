import { expect, test } from 'vitest';
import { runReadme } from '../run-readme.ts';

test('the use in the README is as it says', async () => {
  const asJson = (code: string) => code.replaceAll(/console\.log\((.*)\);/g, 'console.log(JSON.stringify($1));');
  const { readme, stdout } = await runReadme('mysql-errors', asJson);
  const lines = stdout.trim().split('\n');
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(readme).toContain(`\`${line}\``);
});
