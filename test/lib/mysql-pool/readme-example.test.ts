import { expect, test } from 'vitest';
import { describeOnMysql } from '../../support/engines.ts';
import { runReadme } from '../run-readme.ts';

describeOnMysql('the README', (engine) => {
  test('the use in it is as it says', async () => {
    const url = await engine.freshDatabase();
    const { readme, stdout } = await runReadme('mysql-pool', (code) =>
      code
        .replaceAll(/00\b/g, '000') // ten times as long, for a machine with other work
        .replace(/process\.env\.MYSQL_URL/, JSON.stringify(url))
        .replace(/console\.log\((.*)\);/, 'console.log(JSON.stringify($1));'),
    );
    expect(readme).toContain(`\`${stdout.trim()}\``);
  });
});
