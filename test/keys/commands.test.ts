import { expect, test } from 'vitest';
import { command, succeed } from '../cli/command.ts';
import { describeEachEngine, SQLITE } from '../support/engines.ts';
import { prepareDatabase } from '../support/prepared.ts';

const KEY = /^petstore_[0-9A-Za-z]{38}$/;

describeEachEngine('keys', (engine) => {
  test('create --read-only, rotate and list: 80 columns whatever the names are, and nothing that a terminal obeys', async () => {
    const { url: DATABASE_URL, keys } = await prepareDatabase(engine);
    const env = { DATABASE_URL };
    const { id } = await keys.create({ name: '猫'.repeat(120), expiresAt: new Date(Date.now() + 3.5 * 86_400_000) });
    await keys.noteLastUses(new Map([[id, Date.parse('2098-07-06T05:04:03Z')]]));
    await keys.create({ name: 'evil \u001b[2J\u202e', expiresAt: new Date(Date.now() - 1) });
    const created = await succeed('keys', ['create', '--name', 'reader', '--read-only'], env);
    expect(created.at(-1)).toMatch(KEY);
    expect(created[0]).toMatch(/^Key 4 for "reader", read-only, valid until it is revoked\./);
    const rotated = await succeed('keys', ['rotate', '4', '--grace', '2h'], env);
    expect(rotated.at(-1)).toMatch(KEY);
    expect(rotated[0]).toMatch(/^Key 5 takes the place of key 4, which is valid until 2/);
    expect((await command('keys', ['rotate', '3'], env)).stderr).toMatch(/^Key 3 has expired and cannot be rotated/);

    const table = await succeed('keys', ['list'], env);
    expect(table.every((line) => line.length <= 80)).toBe(true);
    expect(table[2]).toMatch(/^2 +猫+… +petstore_\w{4} +expires in 3 days +full +20[2-8]\d-\d\d-\d\d +2098-07-06$/);
    expect(table[3]).toMatch(/^3 +evil \\u.*expired +full /);
    expect(table[4]).toMatch(/expires in 1 hour +read /);
    expect(table[5]).toMatch(/active +read /);
  });
});

test('a name may have 255 characters', async () => {
  const env = { DATABASE_URL: await SQLITE.freshDatabase() };
  expect((await succeed('keys', ['create', '--name', 'x'.repeat(255)], env)).at(-1)).toMatch(KEY);
});

test('an option that is given counts, whatever npm has of that name', async () => {
  const env = { DATABASE_URL: await SQLITE.freshDatabase(), npm_config_json: 'true' };
  expect(await succeed('keys', ['list', '--json'], env)).toEqual(['[]']);
});
