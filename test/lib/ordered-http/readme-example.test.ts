import { expect, test } from 'vitest';
import { runReadme } from '../run-readme.ts';

test('the use in the README is as it says', async () => {
  const { readme, stdout } = await runReadme('ordered-http');
  expect(readme).toContain(`It prints \`${stdout.trim()}\`.`);
});
