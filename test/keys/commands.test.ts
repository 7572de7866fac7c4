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
    const created = (await command('keys', ['create', '--name', 'reader', '--read-only'], env)).stdout
      .trim()
      .split('\n');
    expect(created.at(-1)).toMatch(KEY);
    expect(created[0]).toMatch(/^Key 4 for "reader", read-only, valid until it is revoked\./);
    const rotated = (await command('keys', ['rotate', '4', '--grace', '2h'], env)).stdout.trim().split('\n');
    expect(rotated.at(-1)).toMatch(KEY);
    expect(rotated[0]).toMatch(/^Key 5 takes the place of key 4, which is valid until 2/);
    expect((await command('keys', ['rotate', '3'], env)).stderr).toMatch(/^Key 3 has expired and cannot be rotated/);

    const table = (await command('keys', ['list'], env)).stdout.trimEnd().split('\n');
    expect(table.every((line) => line.length <= 80)).toBe(true);
    expect(table[2]).toMatch(/^2 +猫+… +petstore_\w{4} +expires in 3 days +full +20[2-8]\d-\d\d-\d\d +2098-07-06$/);
    expect(table[3]).toMatch(/^3 +evil \\u.*expired +full /);
    expect(table[4]).toMatch(/expires in 1 hour +read /);
    expect(table[5]).toMatch(/active +read /);
  });
});

/** The words of a call, what is said, and the environment that npm makes of options before `--`. */
const WRONG: readonly (readonly [string[], RegExp, Record<string, string>?])[] = [
  [['create', '--name', 'x', '--json'], /^keys create does not take --json/],
  [['list', '--name', 'x'], /^keys list does not take --name/],
  [['revoke', '1', '--expires', '1d'], /^keys revoke does not take --expires/],
  [['rotate', '1', '--read-only'], /^keys rotate does not take --read-only/],
  [['rotate'], /^Say what to do/],
  [['rotate', '1', '--grace', 'soon'], /^--grace "soon" must be/],
  [['create', '--name', 'a\u001bb'], /^--name must have no control or other invisible characters\.$/],
  [['create', '--name', 'a\u202eb'], /^--name must have no control/],
  [
    ['create'],
    /^npm took --name for itself; put -- first: npm run keys -- create --name …$/,
    { npm_lifecycle_event: 'keys', npm_config_name: 'foo' },
  ],
  [
    ['list'],
    /^npm took --json for itself; put -- first: npm run keys -- list --json$/,
    { npm_lifecycle_event: 'keys', npm_config_json: 'true' },
  ],
];

const CALLS = WRONG.map(([words, line, env = {}]) => ({ words, line, env }));

test.concurrent.each(CALLS)(
  'keys $words: what a verb does not take is refused in one line, exit code 2',
  async ({ words, line, env }) => {
    const { code, stderr } = await command('keys', words, { DATABASE_URL: await SQLITE.freshDatabase(), ...env });
    expect(code).toBe(2);
    expect(stderr.trimEnd()).toMatch(line);
    expect(stderr.trimEnd()).not.toContain('\n');
  },
);

test('a name may have 255 characters', async () => {
  const env = { DATABASE_URL: await SQLITE.freshDatabase() };
  expect((await succeed('keys', ['create', '--name', 'x'.repeat(255)], env)).at(-1)).toMatch(KEY);
});

test('an option that is given counts, whatever npm has of that name', async () => {
  const env = { DATABASE_URL: await SQLITE.freshDatabase(), npm_config_json: 'true' };
  expect(await succeed('keys', ['list', '--json'], env)).toEqual(['[]']);
});
