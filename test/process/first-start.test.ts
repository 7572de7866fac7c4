import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { succeed } from '../cli/command.ts';
import { send } from '../support/client.ts';
import { describeEachEngine, temporaryFolder } from '../support/engines.ts';
import { eventually } from '../support/load.ts';
import { openDatabase } from '../support/prepared.ts';
import { startProcess } from '../support/process.ts';
import { has } from '../support/tools.ts';

const shell = promisify(execFile);
const KEY = /petstore_[0-9A-Za-z]{38}/g;
/** The last line of a greeting: the link that opens GraphiQL with the key in place. */
const LAST_LINE = /\/graphql#key=(petstore_[0-9A-Za-z]{38})\n/;

/** All animals as the API gives them. */
async function listPets(url: string, key: string): Promise<{ name: string; status?: string }[]> {
  return (await send(`${url}/v1/pets?limit=100`, { headers: { authorization: `Bearer ${key}` } })).json;
}

/** Expects of the printed calls of both APIs that they list the same animals. */
async function expectPets(lines: readonly string[]): Promise<void> {
  // One after the other: of one key at once, a process that is held up may refuse one.
  const printed: string[] = [];
  for (const line of lines) printed.push((await shell('sh', ['-c', line])).stdout);
  const [rest = '', graphql = ''] = printed;
  const pets = JSON.parse(rest);
  expect(pets).toHaveLength(3);
  expect(pets.every((pet: { status: string }) => pet.status === 'available')).toBe(true);
  const data = JSON.parse(graphql).data.pets;
  expect(data.map((pet: { id: string; name: string }) => [pet.id, pet.name])).toEqual(
    pets.map((pet: { id: number; name: string }) => [String(pet.id), pet.name]),
  );
}

describe.concurrent("a newcomer's first start", () => {
  test('greets with a key and links; the printed curl lines work as printed; the second start is quiet', async () => {
    const first = await startProcess();
    const [, key = ''] = await first.waitFor(LAST_LINE);
    const printed = first.stdout();
    expect(new Set(printed.match(KEY))).toEqual(new Set([key]));
    for (const path of ['/', '/v1/pets', '/docs', '/graphql']) expect(printed).toContain(` ${first.url}${path}\n`);
    expect(printed).not.toContain('\u001B['); // no colours where there is no terminal
    expect(first.stderr()).toBe('');

    const calls = printed.split('\n').filter((line) => line.startsWith('  curl '));
    expect(calls).toHaveLength(2);
    if (has('curl')) await expectPets(calls);

    const all = await listPets(first.url, key);
    expect(all).toHaveLength(12);
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set(['available', 'pending', 'sold', undefined]));
    expect(new Set(all.map(({ name }) => name)).size).toBe(12);
    await first.stop();
    expect(existsSync(join(first.folder, 'data/petstore.sqlite'))).toBe(true);

    const second = await startProcess({}, first.folder);
    expect(await listPets(second.url, key)).toEqual(all);
    const lines = second.stdout().trimEnd().split('\n');
    expect(lines.filter((line) => !line.startsWith('{'))).toEqual([]);
    expect(second.stdout()).not.toMatch(KEY);
    await second.waitFor(/"lost the key\? .+ create --name NAME makes another"/);
    await second.stop();
  });

  test('may be made by keys create: the same animals, once, and its key works', async () => {
    const folder = temporaryFolder();
    const create = () => succeed('keys', ['create', '--name', 'app'], {}, folder);
    const [told, ...lines] = await create();
    expect(told).toBe('The new store has 12 sample animals; SAMPLE_DATA=false adds none.');
    expect(await create()).toHaveLength(lines.length);
    const started = await startProcess({}, folder);
    expect(await listPets(started.url, lines.at(-1) ?? '')).toHaveLength(12);
    await started.stop();
    expect(started.stdout()).not.toMatch(KEY);
  });

  test.each([
    ['SAMPLE_DATA=false', { SAMPLE_DATA: 'false' }],
    ['a DATABASE_URL', { DATABASE_URL: 'sqlite:data/petstore.sqlite' }],
  ])('by keys create with %s has no animals', async (_with, env: Record<string, string>) => {
    const folder = temporaryFolder();
    await succeed('keys', ['create', '--name', 'app'], env, folder);
    await succeed('keys', ['create', '--name', 'later'], {}, folder); // there is a key: the store is not new
    const { knex } = await openDatabase(`sqlite:${join(folder, 'data/petstore.sqlite')}`);
    expect(await knex('pets').select('id')).toEqual([]);
  });

  test('with SAMPLE_DATA=false there is a key, and no animal', async () => {
    const started = await startProcess({ SAMPLE_DATA: 'false' });
    const [, key = ''] = await started.waitFor(LAST_LINE);
    expect(await listPets(started.url, key)).toEqual([]);
  });

  test('with GRAPHIQL=false the link with the key opens the reference', async () => {
    const started = await startProcess({ GRAPHIQL: 'false' });
    const [, path = ''] = await started.waitFor(/^ {2}http:\/\/[^/]+(\/.*)#key=petstore_[0-9A-Za-z]{38}\n/m);
    expect(path).toBe('/docs');
    const headers = { accept: 'text/html' };
    expect((await send(`${started.url}${path}`, { headers })).headers.get('content-type')).toMatch(/^text\/html/);
  });

  test('where animals are and no key is, there is a key, and no animal is added', async () => {
    const first = await startProcess({ SAMPLE_DATA: 'false' });
    await first.waitFor(LAST_LINE);
    await first.stop();
    const { knex } = await openDatabase(`sqlite:${join(first.folder, 'data/petstore.sqlite')}`);
    await knex('pets').insert({ name: 'Rex', category_id: 1 });
    await knex('api_keys').delete();
    const second = await startProcess({}, first.folder);
    const [, key = ''] = await second.waitFor(LAST_LINE);
    expect(await listPets(second.url, key)).toMatchObject([{ name: 'Rex' }]);
  });

  test('of three at once in one folder, one greets; there are twelve animals and one key', async () => {
    for (let round = 0; round < 2; round++) {
      const folder = temporaryFolder();
      const starts = await Promise.all(Array.from({ length: 3 }, () => startProcess({}, folder)));
      const greeted = async () => starts.filter(({ stdout }) => LAST_LINE.test(stdout()));
      const [first] = await eventually(async () => (await greeted()).length > 0 && greeted(), 30_000, 'a greeting');
      const [, key = ''] = first?.stdout().match(LAST_LINE) ?? [];
      for (const start of starts) expect(await listPets(start.url, key)).toHaveLength(12);
      for (const start of starts) await start.stop(); // a greeting that is late is printed before
      expect(await greeted()).toHaveLength(1);
      for (const { stderr } of starts) expect(stderr()).toBe('');
      const { knex } = await openDatabase(`sqlite:${join(folder, 'data/petstore.sqlite')}`);
      expect(await knex('api_keys').pluck('name')).toEqual(['first key']);
      expect(await knex('pets').pluck('id')).toHaveLength(12);
    }
  }, 240_000);

  test('with WORKERS=2 greets once, and the key works', async () => {
    const started = await startProcess({ WORKERS: '2' });
    const [, key = ''] = await started.waitFor(LAST_LINE);
    expect(await listPets(started.url, key)).toHaveLength(12);
    expect(new Set(started.stdout().match(KEY))).toEqual(new Set([key]));
    expect(started.stdout().match(/Welcome/g)).toHaveLength(1);
    await started.stop();
  });
});

describeEachEngine('a first start with DATABASE_URL', (engine) => {
  test('adds no data, prints no key, and names the command that makes one', async () => {
    const url = await engine.freshDatabase();
    const started = await startProcess({ DATABASE_URL: url });
    await started.waitFor(/^ {2}node cli\.js keys create --name NAME$/m);
    expect(started.stdout()).not.toMatch(KEY);
    expect(started.stderr()).toBe('');
    const { knex } = await openDatabase(url);
    expect(await knex('pets').select('id')).toEqual([]);
    expect(await knex('api_keys').select('id')).toEqual([]);
    expect((await send(`${started.url}/`)).text).toContain('<pre>node cli.js keys create --name NAME</pre>');
    expect((await send(`${started.url}/docs`)).text).toContain('<pre>node cli.js keys create --name NAME\n');
    expect((await send(`${started.url}/v1/pets`)).status).toBe(401);
    expect((await send(`${started.url}/readyz`)).status).toBe(200);
    await started.stop();
  });

  if (engine.name !== 'sqlite') return; // the file is the same on each engine

  test('by npm: names the command as npm has it', async () => {
    const started = await startProcess({ DATABASE_URL: await engine.freshDatabase(), npm_lifecycle_event: 'start' });
    await started.waitFor(/^ {2}npm run keys -- create --name NAME$/m);
    expect(started.stdout()).not.toContain('as seen from');
  });

  test('on every address, as in a container: says from where the links are right', async () => {
    const started = await startProcess({ DATABASE_URL: await engine.freshDatabase(), HOST: '0.0.0.0' });
    await started.waitFor(
      /http:\/\/127\.0\.0\.1:\d+\/graphql\n +as seen from the machine or container that it runs in\n/,
    );
    expect((await send(`${started.url}/readyz`)).status).toBe(200);
  });

  test('the address may stand in a .env file', async () => {
    const folder = temporaryFolder();
    const url = await engine.freshDatabase();
    writeFileSync(join(folder, '.env'), `DATABASE_URL=${url}\nPORT=1\nSHUTDOWN_GRACE_MS=5000\nMYSQL_PASSWORD=x\n`);
    const started = await startProcess({ PORT: '0' }, folder); // what is set already stays
    expect((await send(`${started.url}/readyz`)).status).toBe(200);
    expect(await (await openDatabase(url)).knex.schema.hasTable('pets')).toBe(true);
    expect(existsSync(join(folder, 'data'))).toBe(false);
    expect(started.stdout()).not.toContain('MYSQL_PASSWORD'); // it is of another program
    await started.stop();
  });
});
