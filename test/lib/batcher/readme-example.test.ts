import { expect, test } from 'vitest';
import { runReadme } from '../run-readme.ts';

test('the use in the README is as it says', async () => {
  const { readme, stdout } = await runReadme('batcher');
  const lines = stdout.trim().split('\n');
  expect(lines).toEqual(['asked: 1,2,3', 'answers: 1,4,9,4']);
  for (const line of lines) expect(readme).toContain(`\`${line}\``);
});
