import { expect, test } from 'vitest';
import { runReadme } from '../run-readme.ts';

test('the use in the README is as it says', async () => {
  const { readme, stdout } = await runReadme('deadline');
  const lines = stdout.trim().split('\n');
  expect(lines).toEqual(['the first is late', 'the second is late']);
  for (const line of lines) expect(readme).toContain(`\`${line}\``);
});
