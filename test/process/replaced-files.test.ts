import { cpSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { send } from '../support/client.ts';
import { describeEachEngine, temporaryFolder } from '../support/engines.ts';
import { eventually } from '../support/load.ts';
import { readBlock, runBlock } from '../support/page-blocks.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { run } from '../support/process.ts';
import { ROOT } from '../support/tracked-files.ts';

/** What belongs to a version of the gateway. */
const FILES = ['src', 'migrations', 'package.json', 'start.js'];

/** A copy of this version, whose packages are those of the link `node_modules`. */
function installCopy(): string {
  const folder = join(temporaryFolder(), 'a#b%20c'); // a path is no URL
  for (const file of FILES) cpSync(join(ROOT, file), join(folder, file), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

const json = { 'content-type': 'application/json' };
const graphql = (query: string, init: RequestInit = {}) => ({
  ...{ method: 'POST', body: JSON.stringify({ query }), ...init },
  headers: { ...json, ...init.headers },
});
const pet = (body: unknown, headers = {}) => ({
  ...{ method: 'POST', body: JSON.stringify(body), headers: { ...json, ...headers } },
});

/** Each way to ask: the path, the request, the status. The first create is the first write of the process. */
const ASKED: readonly (readonly [path: string, init: RequestInit, status: number])[] = [
  ['/readyz', {}, 200],
  ['/metrics', {}, 200],
  ['/', {}, 200],
  ['/docs', { headers: { 'accept-encoding': 'br' } }, 200],
  ['/schema.graphql', {}, 200],
  ['/v1/openapi.json', {}, 200],
  ['/graphql', { headers: { accept: 'text/html' } }, 200],
  ['/v1/pets', pet({ name: 'Rex', categoryId: 1 }), 201],
  ['/v1/pets', pet({ name: 'Rex', categoryId: 1 }, { 'idempotency-key': 'once' }), 201],
  ['/v1/pets', pet({ name: 'Rex' }), 400],
  ['/v1/pets', {}, 200],
  ['/v1/pets/1', {}, 200],
  ['/v1/nothing', {}, 404],
  ['/graphql', graphql('{ pets { name } }'), 200],
  ['/graphql', graphql('{ __schema { types { name } } }'), 200],
  ['/graphql', graphql('mutation { addPet(input: { name: "Ada", categoryId: 2 }) { id } }'), 200],
  ['/graphql', graphql('{ unknown }', { headers: { accept: 'application/graphql-response+json' } }), 400],
  ['/graphql', graphql('{ unknown }', { headers: { accept: 'application/json' } }), 200],
  ['/graphql', graphql('{'), 200],
  ['/graphql', graphql('{ pets(limit: 0) { id } }'), 200],
  ['/graphql', graphql(`{ ${'pets { id }'.repeat(600)} }`), 200],
];

describeEachEngine((engine) => {
  const WORKERS = engine.name === 'sqlite' ? '1' : '2';
  test(`a running gateway with WORKERS=${WORKERS} needs none of its files but GraphiQL's`, async () => {
    const folder = installCopy();
    const { url: DATABASE_URL, key } = await prepareDatabase(engine);
    // The packages are found by the link, as if they were there.
    const env = { DATABASE_URL, WORKERS, PORT: '0', LOG_LEVEL: 'debug', NODE_OPTIONS: '--preserve-symlinks' };
    const main = relative(join(ROOT, 'src'), join(folder, 'src/main.ts'));
    const gateway = run(main, [], env, folder);
    const [, url = ''] = await gateway.waitFor(/listening on (http:[^"\s]+)/);
    await gateway.waitFor(new RegExp(`(?:all is loaded[^]*){${WORKERS}}`));
    mkdirSync(join(folder, 'away'));
    for (const file of [...FILES, 'node_modules']) renameSync(join(folder, file), join(folder, 'away', file));

    const ask = (path: string, { headers, ...init }: RequestInit = {}) =>
      send(new URL(path, url).href, { ...init, headers: { authorization: `Bearer ${key}`, ...headers } });
    for (const [path, init, status] of ASKED) {
      const asked = `${init.method ?? 'GET'} ${path} ${init.body ?? ''}`;
      // A primary that is held up gives no metrics in time.
      const answered = async () => {
        const answer = await ask(path, init);
        return (path !== '/metrics' || answer.status !== 503) && answer.status;
      };
      expect([asked, await eventually(answered, 30_000, asked)]).toEqual([asked, status]);
    }
    expect(gateway.stdout()).not.toMatch(/"level":[56]0/);
  });
});

/** The folder of an installed gateway, with these files in and beside it. */
function makeInstalled(...files: readonly string[]): string {
  const folder = join(temporaryFolder(), 'gateway of one');
  for (const file of ['old-version', 'node_modules/koa', ...files]) {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(join(folder, file), '');
  }
  return folder;
}

/** All that is in and beside it. */
const everything = (folder: string) => readdirSync(join(folder, '..'), { recursive: true }).sort();

const SWITCH = readBlock('docs/upgrade.md', 'bash upgrade-switch');
const BACK = readBlock('docs/upgrade.md', 'bash upgrade-back');
const [OLD, NEW] = ['../gateway of one.old', '../gateway of one.new'];
const KEPT = ['.env', 'data/petstore.sqlite'];
const NEWER = [`${NEW}/node_modules/koa`, `${NEW}/new-version`];

test('upgrade.md switches to the version beside, with the settings and the data of the old one', async () => {
  const folder = makeInstalled(...KEPT, ...NEWER);
  // The shell that has switched stands in the new one.
  const { code, stdout, stderr } = await runBlock(`${SWITCH}\nls -A`, folder);
  expect([code, stdout, stderr]).toEqual([0, '.env\ndata\nnew-version\nnode_modules\n', '']);
  expect(readdirSync(join(folder, 'data'))).toEqual(['petstore.sqlite']);
  expect(readdirSync(`${folder}.old`).sort()).toEqual(['node_modules', 'old-version']);
});

test('upgrade.md leads back, with the settings and the data, and again to the new version', async () => {
  const folder = makeInstalled(...KEPT, ...NEWER);
  const before = everything(folder);
  const { code, stdout, stderr } = await runBlock(`${SWITCH}\n${BACK}\nls`, folder);
  expect([code, stdout, stderr]).toEqual([0, 'data\nnode_modules\nold-version\n', '']);
  expect(everything(folder)).toEqual(before);
  expect((await runBlock(SWITCH, folder)).code).toBe(0);
});

const BEFORE = [`${OLD}/node_modules/koa`, `${OLD}/older-version`];

test.each([
  ['no version is beside', SWITCH, []],
  ['that beside has no packages', SWITCH, [...KEPT, `${NEW}/new-version`]],
  ['that beside has data of its own', SWITCH, [...KEPT, ...NEWER, `${NEW}/data/petstore.sqlite`]],
  ['an earlier version is in the way', SWITCH, [...KEPT, ...NEWER, ...BEFORE]],
  ['no version is there to go back to', BACK, KEPT],
  ['the one to go back to has been started', BACK, [...KEPT, ...BEFORE, `${OLD}/data/petstore.sqlite`]],
  ['a newer version is in the way of going back', BACK, [...KEPT, ...BEFORE, ...NEWER]],
])('upgrade.md moves nothing when %s', async (_what, block, files) => {
  const folder = makeInstalled(...files);
  const before = everything(folder);
  expect((await runBlock(block, folder)).code).toBe(1);
  expect(everything(folder)).toEqual(before);
});
