import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import mysql from 'mysql2/promise';
import { expect, test } from 'vitest';
import { send } from '../support/client.ts';
import { describeEachEngine, type TestEngine, temporaryFolder } from '../support/engines.ts';
import { served } from '../support/load.ts';
import { readBlock, runBlock } from '../support/page-blocks.ts';
import { run, startProcess } from '../support/process.ts';
import { ROOT } from '../support/tracked-files.ts';
import { KEYS, makeEarlierStore, readStore } from './earlier-store.ts';

const PAGE = 'docs/upgrade.md';

async function prepareEarlier(engine: TestEngine): Promise<string> {
  const url = await engine.freshDatabase();
  await makeEarlierStore(engine, url);
  return url;
}

/** Does what the page says, in the folder of a gateway whose store is in its place; gives the address of the new one. */
async function bringOver(engine: TestEngine): Promise<string> {
  if (engine.name === 'sqlite') {
    const folder = temporaryFolder();
    for (const name of ['src', 'migrations', 'package.json', 'cli.js'])
      cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    mkdirSync(join(folder, 'data'));
    const url = `sqlite:${join(folder, 'data/petstore.sqlite')}`;
    await makeEarlierStore(engine, url);
    const { code, stderr } = await runBlock(readBlock(PAGE, 'bash earlier-sqlite'), folder);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return url;
  }
  const url = await prepareEarlier(engine);
  const store = await mysql.createConnection({ uri: url, multipleStatements: true });
  await store.query(readBlock(PAGE, 'sql earlier-mysql-aside'));
  expect((await run('cli/migrate.ts', [], { DATABASE_URL: url }).exited).code).toBe(0);
  await store.query(readBlock(PAGE, 'sql earlier-mysql-over'));
  await store.end();
  return url;
}

describeEachEngine('a store of before 1.0.0', (engine) => {
  test.each([
    ['main.ts', [], {}],
    ['main.ts', [], { MIGRATE_ON_START: 'false' }],
    ['cli/migrate.ts', ['--rollback'], {}],
    ['cli/migrate.ts', ['--status'], {}],
    ['cli/keys.ts', ['create', '--name', 'app'], { MIGRATE_ON_START: 'false' }],
  ])('is refused by name, and stays as it is: %s %j %j', async (file, words, env) => {
    const url = await prepareEarlier(engine);
    const place = engine.name === 'sqlite' ? url.slice('sqlite:'.length) : new URL(url).pathname.slice(1);
    const files = () => (engine.name === 'sqlite' ? readdirSync(dirname(place)) : []);
    const before = [await readStore(engine, url), files()];
    const { exited, stdout, stderr } = run(file, words, { ...env, DATABASE_URL: url, PORT: '0' });
    const { code } = await exited;
    const told = stdout()
      .split('\n')
      .filter((line) => line !== '' && !line.includes('the database is')); // a start's first line
    expect({ code, told }).toEqual({ code: 2, told: [] });
    expect(stderr()).toMatch(/^DATABASE_URL: \S+ is not used and stays as it is: [^\n]+\n$/);
    expect(stderr()).toContain(
      `${place} is not used and stays as it is: it is a store of before 1.0.0, and docs/upgrade.md`,
    );
    expect([await readStore(engine, url), files()]).toEqual(before);
  });

  test('is wrong to the doctor', async () => {
    const { exited, stdout, stderr } = run('cli/doctor.ts', [], { DATABASE_URL: await prepareEarlier(engine) });
    const { code } = await exited;
    const [expected, said] = engine.name === 'sqlite' ? [2, stderr()] : [1, stdout()]; // a file is refused before all else
    expect(code).toBe(expected);
    expect(said).toMatch(/^(?:WRONG: )?DATABASE_URL: .* is a store of before 1\.0\.0/m);
  });

  test('has its animals, keys and counts in the new one, as the page says', async () => {
    const earlier = await readStore(engine, await prepareEarlier(engine));
    const url = await bringOver(engine);
    const { pets, api_keys, deprecated_use, idempotency_keys } = await readStore(engine, url);
    const columns = earlier.pets?.[0]?.length; // today's may have more of them
    expect(pets?.map((row) => row.slice(0, columns))).toEqual(earlier.pets);
    expect(pets?.flatMap((row) => row.slice(columns)).filter((value) => value !== 'null')).toEqual([]);
    expect(api_keys).toEqual(earlier.api_keys);
    expect(deprecated_use).toEqual(earlier.deprecated_use);
    expect(idempotency_keys).toEqual([]);
    const gateway = await startProcess({ DATABASE_URL: url });
    const add = (key: string) =>
      served(() =>
        send(`${gateway.url}/v1/pets`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': 'one' },
          body: '{"name":"Max","categoryId":1}',
        }),
      );
    const [first, replayed] = [await add(KEYS.full), await add(KEYS.rotated)];
    expect(first.text).toMatch(/^\{"id":9007199254740994,/); // no id is given twice
    expect([replayed.text, replayed.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    expect([(await add(KEYS.readOnly)).status, (await add(KEYS.revoked)).status]).toEqual([403, 401]);
    expect((await send(`${gateway.url}/readyz`)).status).toBe(200);
    const doctor = run('cli/doctor.ts', [], { DATABASE_URL: url });
    expect((await doctor.exited).code, doctor.stdout()).toBe(0);
  });
});
