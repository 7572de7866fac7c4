import { expect, test } from 'vitest';
import { createDeprecatedUseStore, dayNumber } from '../../src/gateway/keys/usage.ts';
import { describeEachEngine, SQLITE } from '../support/engines.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { succeed, succeedJson } from './command.ts';

describeEachEngine('deprecations report', (engine) => {
  test('shows of a key name nothing that a terminal obeys; to programs it is as it is', async () => {
    const { url: DATABASE_URL, database, keys } = await prepareDatabase(engine);
    const name = 'evil \u001b[2J\u202e';
    const { id } = await keys.create({ name, expiresAt: null });
    const lastSeenAt = new Date();
    const use = { apiKeyId: id, operation: 'getPet', day: dayNumber(lastSeenAt), uses: 2, lastSeenAt };
    await createDeprecatedUseStore(database).add([use]);
    const [, line] = await succeed('deprecation-report', ['report'], { DATABASE_URL });
    expect(line).toMatch(/^evil \\u\{1b\}\[2J\\u\{202e\} +getPet +2 +\d{4}-/);
    const json = await succeedJson('deprecation-report', ['report', '--json'], { DATABASE_URL });
    expect(json).toMatchObject([{ key: name, count: 2 }]);
  });
});

test('the last days are counted with today among them', async () => {
  const { url: DATABASE_URL, database, keyId } = await prepareDatabase(SQLITE);
  const uses = [0, 1, 2, 3].map((daysAgo) => {
    const lastSeenAt = new Date(Date.now() - daysAgo * 86_400_000);
    return { apiKeyId: keyId, operation: `days${daysAgo}`, day: dayNumber(lastSeenAt), uses: 9 - daysAgo, lastSeenAt };
  });
  await createDeprecatedUseStore(database).add(uses);
  const today = dayNumber(new Date());
  const report = async (days: string) =>
    (await succeedJson('deprecation-report', ['report', '--json', '--days', days], { DATABASE_URL })).length;
  const counts = [await report('1'), await report('3')];
  // Midnight may have come meanwhile.
  expect(counts).toEqual(dayNumber(new Date()) === today ? [1, 3] : [expect.any(Number), expect.any(Number)]);
});
