import { expect, test } from 'vitest';
import { runReadme } from '../run-readme.ts';

test('the use in the README is as it says', async () => {
  const { readme, stdout } = await runReadme('fair-shares');
  const lines = stdout.trim().split('\n');
  expect(lines).toEqual(['begun: flood,flood,polite', 'at last: flood,flood,flood,flood,polite']);
  for (const line of lines) expect(readme).toContain(`\`${line}\``);
});
