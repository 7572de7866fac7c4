import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { maskCredentials } from '../../src/gateway/masking.ts';
import { printedSchema } from '../../src/gateway/schema/schema.ts';
import { describeEachEngine, describeOnMysql, temporaryFolder } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';
import { SCHEMA } from '../support/petstore-api.ts';
import { freePort } from '../support/ports.ts';
import { openDatabase } from '../support/prepared.ts';
import { run } from '../support/process.ts';
import { command, expectFailure, succeed, succeedJson } from './command.ts';

const ROOT = join(import.meta.dirname, '../..');
const MIGRATIONS = readdirSync(join(ROOT, 'migrations')).length;
const KEY = /^petstore_[0-9A-Za-z]{38}$/;

describeEachEngine('commands', (engine) => {
  test('migrate, --status and --rollback', async () => {
    const env = { DATABASE_URL: await engine.freshDatabase(), MIGRATE_ON_START: 'false' };
    const tables = async () => (await openDatabase(env.DATABASE_URL)).knex.schema.hasTable('pets');
    const pending = await succeed('migrate', ['--status'], env);
    expect(pending).toHaveLength(MIGRATIONS);
    expect(pending.every((line) => line.startsWith('pending  '))).toBe(true);
    expect(await tables()).toBe(false);
    expectFailure(await command('keys', ['list'], env), 1, /api_keys/);

    expect((await succeed('migrate', [], env)).map((line) => line.slice(0, 6))).toEqual(
      Array(MIGRATIONS).fill('done  '),
    );
    expect(await succeed('migrate', [], env)).toEqual(['Nothing to do.']);
    expect((await succeed('migrate', ['--status'], env)).every((line) => line.startsWith('done     '))).toBe(true);
    expect(await succeed('keys', ['list', '--json'], env)).toEqual(['[]']);

    const back = await succeed('migrate', ['--rollback'], env);
    expect(back.map((line) => line.slice(0, 12))).toEqual(Array(MIGRATIONS).fill('taken back  '));
    expect(await tables()).toBe(false);
    // It does all of it itself, whatever a start would do before.
    const usual = { DATABASE_URL: env.DATABASE_URL };
    expect(await succeed('migrate', ['--rollback'], usual)).toEqual(['Nothing to do.']);
    expect(await succeed('migrate', [], usual)).toHaveLength(MIGRATIONS);
  });

  test('seed adds as many animals as it says, each time, and every one of a run has another name', async () => {
    const env = { DATABASE_URL: await engine.freshDatabase() };
    const [line] = await succeed('seed', ['--pets', '2501'], env);
    expect(line).toMatch(/^2,501 animals added in \d+\.\d s\.$/);
    await succeed('seed', ['--pets', '1'], env);
    const { knex } = await openDatabase(env.DATABASE_URL);
    const [row] = await knex('pets').count({ pets: '*' }).countDistinct({ names: 'name' });
    expect([Number(row?.pets), Number(row?.names)]).toEqual([2502, 2501]); // each run begins with the same ones
  });

  test('deprecations report: who used what, from both APIs', async () => {
    const env = { DATABASE_URL: await engine.freshDatabase() };
    const nothing = 'Nothing deprecated was used in the last 14 days.';
    expect(await succeed('deprecation-report', ['report'], env)).toEqual([nothing]);
    const gateway = await startGateway(engine, env);
    for (let use = 0; use < 3; use++) await gateway.request('/v1/pets/1');
    await gateway.graphql('{ pet(id: 1) { id } }');
    await gateway.close();
    const json = await succeedJson('deprecation-report', ['report', '--json', '--days', '2'], env);
    const lastSeen = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(json).toEqual([
      { key: 'test', operation: 'getPet', count: 3, lastSeen },
      { key: 'test', operation: 'Query.pet', count: 1, lastSeen },
    ]);
    const [head, ...rows] = await succeed('deprecation-report', ['report'], env);
    expect(head).toMatch(/^key +operation +count +last seen$/);
    expect(rows.map((row) => row.split(/ {2,}/).slice(0, 3))).toEqual([
      ['test', 'getPet', '3'],
      ['test', 'Query.pet', '1'],
    ]);
  });

  if (engine.name !== 'sqlite') return; // the rest is the same on each engine

  test.each([
    ['keys', ['create', '--name', 'lost'], '> /dev/full', /ENOSPC/],
    ['seed', ['--pets', '3'], '| true', /EPIPE/],
    ['seed', ['--pets', '5001'], '> /dev/full', /ENOSPC/], // several lines, one of which tells
  ])('%s %j %s: what is done and not told is an error', async (name, words, where, why) => {
    const env = { DATABASE_URL: await engine.freshDatabase() };
    const call = [process.execPath, join(ROOT, `src/cli/${name}.ts`), ...words].map((word) => `'${word}'`).join(' ');
    // A pipe's end is closed before the command begins: `true` is quicker, and the command reads a line that comes later.
    const ended = spawnSync('bash', ['-o', 'pipefail', '-c', `${call} ${where}`], {
      env: { ...process.env, ...env },
      encoding: 'utf8',
    });
    expectFailure({ code: ended.status, ...ended }, 1, why);
  });

  test('an output that goes away in the middle of the work is told once', () => {
    const program = join(import.meta.dirname, 'writes-twice.ts');
    const full = openSync('/dev/full', 'w');
    const ended = spawnSync(process.execPath, [program], { stdio: ['ignore', full, 'pipe'], encoding: 'utf8' });
    closeSync(full);
    expectFailure({ code: ended.status, ...ended }, 1, /ENOSPC.*: what is done is not told$/);
  });

  test('keys create, list and revoke: the key is printed once and works until it is revoked', async () => {
    const env = { DATABASE_URL: await engine.freshDatabase() };
    expect(await succeed('keys', ['list'], env)).toEqual([
      `No keys yet in ${maskCredentials(env.DATABASE_URL)}: node cli.js keys create --name NAME`,
    ]);
    expect(await succeed('keys', ['list', '--json'], env)).toEqual(['[]']);

    const first = await succeed('keys', ['create', '--name', 'Zoé "the app" 🐾'], env);
    const second = await succeed('keys', ['create', '--name', 'short', '--expires', '90d'], env);
    const [key, shortKey] = [first.at(-1) ?? '', second.at(-1) ?? ''];
    expect([key, shortKey].every((line) => KEY.test(line))).toBe(true);
    expect(first.slice(0, -1).join('\n')).not.toContain(key.slice(9, 20));
    expect(first[0]).toContain('"Zoé "the app" 🐾"');

    const rows = await succeedJson('keys', ['list', '--json'], env);
    const common = { created: expect.any(String), rights: 'full', lastUsed: null, revoked: null };
    expect(rows).toEqual([
      { ...common, id: '1', name: 'Zoé "the app" 🐾', prefix: key.slice(0, 13), state: 'active', expires: null },
      {
        ...common,
        id: '2',
        name: 'short',
        prefix: shortKey.slice(0, 13),
        state: 'expires in 89 days',
        expires: expect.any(String),
      },
    ]);
    expect(Date.parse(rows[1].expires) - Date.parse(rows[1].created)).toBeCloseTo(90 * 86_400_000, -5);
    const table = await succeed('keys', ['list'], env);
    expect(table[0]).toMatch(/^id +name +prefix +state +rights +created +last used$/);
    expect(table).toHaveLength(3);
    expect(JSON.stringify([rows, table])).not.toContain(key.slice(9, 20));

    const gateway = await startGateway(engine, env);
    const status = async () =>
      (await fetch(`${gateway.url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await succeed('keys', ['revoke', '1'], env)).toEqual([
      'Key 1 is revoked: it stops working everywhere within five seconds.',
    ]);
    expect(await status()).toBe(401);
    expect((await succeedJson('keys', ['list', '--json'], env))[0].revoked).toMatch(/^\d{4}-.*Z$/);
    expectFailure(await command('keys', ['revoke', '77'], env), 2, /^No key has the id 77/);
  });

  test('seed that is interrupted ends between two batches: what it reports is there', async () => {
    const env = { DATABASE_URL: await engine.freshDatabase() };
    await succeed('migrate', [], env);
    const database = await openDatabase(env.DATABASE_URL);
    const count = async () => Number((await database.knex('pets').count({ pets: '*' }))[0]?.pets);
    const seed = run('cli/seed.ts', ['--pets', '100000000'], env);
    while ((await count()) === 0) expect(seed.child.exitCode).toBeNull();
    seed.child.kill('SIGINT');
    expect(await seed.exited).toEqual({ code: 130, signal: null });
    const [, reported = ''] = /([\d,]+) animals added in/.exec(seed.stdout()) ?? [];
    expect(Number(reported.replaceAll(',', ''))).toBe(await count());
    expect((await count()) % 1000).toBe(0);
  });
});

describeOnMysql('seed', (engine) => {
  // On a machine that holds this process up for half a second they are two Ctrl+C: then it is tried again.
  test('two SIGINTs that come together, as Ctrl+C is through npm, are one', { retry: 4 }, async () => {
    const env = { DATABASE_URL: await engine.freshDatabase() };
    await succeed('migrate', [], env);
    const { knex } = await openDatabase(env.DATABASE_URL);
    const seed = await knex.transaction(async (holder) => {
      await holder.raw('LOCK TABLES pets WRITE');
      const started = run('cli/seed.ts', ['--pets', '100000000'], env);
      const waits = () =>
        holder('information_schema.processlist').whereRaw("db = DATABASE() AND state LIKE 'Waiting for%lock'").first();
      await eventually(waits, 20_000, 'it is in a batch');
      started.child.kill('SIGINT');
      await delay(20); // npm's comes a moment later
      started.child.kill('SIGINT');
      await holder.raw('UNLOCK TABLES');
      return started;
    });
    expect(await seed.exited).toEqual({ code: 130, signal: null });
    expect(seed.stdout()).toMatch(/^1,000 animals added in /);
  });
});

describe('commands', () => {
  test('schema writes schema.graphql as the code has it', async () => {
    const folder = temporaryFolder();
    expect(await succeed('print-schema', [], {}, folder)).toEqual(['schema.graphql is written.']);
    expect(await readFile(join(folder, 'schema.graphql'), 'utf8')).toBe(printedSchema(SCHEMA));
  });

  test.each(['keys list', 'migrate', 'migrate --status', 'seed --pets 1', 'deprecation-report report'])(
    '%s with a database that is away: one line, exit code 1, no password',
    async (call) => {
      const [name = '', ...args] = call.split(' ');
      const port = await freePort();
      const ended = await command(name, args, { DATABASE_URL: `mysql://app:S3cr%40t@127.0.0.1:${port}/petstore` });
      expectFailure(
        ended,
        1,
        `The database mysql://app:***@127.0.0.1:${port}/petstore does not answer: connect ECONNREFUSED`,
      );
      expect(ended.stdout + ended.stderr).not.toContain('S3cr');
    },
  );
});
