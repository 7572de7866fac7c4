import { expect, test } from 'vitest';
import { runReadme } from '../run-readme.ts';

test('the use in the README is as it says', async () => {
  const asJson = (code: string) => code.replace(/console\.log\((.*)\);/, 'console.log(JSON.stringify($1));');
  const { readme, stdout } = await runReadme('graphql-plan', asJson);
  const { dataJson, errors } = JSON.parse(stdout);
  expect(readme).toContain(`\`dataJson\` is \`${dataJson}\``);
  expect(errors.map(({ path }: { path: string[] }) => path.join('.'))).toEqual(['books.1.name']);
});
