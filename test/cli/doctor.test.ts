import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { settingNames } from '../../src/gateway/config.ts';
import { LIMITS } from '../../src/gateway/graphql/limits.ts';
import { createKeyStore } from '../../src/gateway/keys/key-store.ts';
import { createRefusalOf } from '../graphql/cost-refusal.ts';
import { createPetDocuments, schema } from '../graphql/schema-alone.ts';
import { describeEachEngine, temporaryFolder } from '../support/engines.ts';
import { freePort } from '../support/ports.ts';
import { openDatabase } from '../support/prepared.ts';
import { run, shellNode } from '../support/process.ts';
import { command, expectFailure, succeed, succeedJson } from './command.ts';

const examine = async (env: Record<string, string>, folder?: string) => {
  const { code, stdout, stderr } = await command('doctor', ['--json'], env, folder);
  expect(stderr).toBe('');
  return { code, ...JSON.parse(stdout) };
};

describeEachEngine('doctor', (engine) => {
  test('says what is wrong until all is well', async () => {
    const env = { DATABASE_URL: await engine.freshDatabase() };
    const first = await command('doctor', [], env);
    expect([first.code, first.stderr]).toEqual([1, '']);
    expect(first.stdout).toMatch(/^WRONG: .*(?:npm start)/m);

    await succeed('migrate', [], env);
    const database = await openDatabase(env.DATABASE_URL);
    await createKeyStore(database).create({ name: 'expired', expiresAt: new Date(Date.now() - 60_000) });
    await database.close();
    const keyless = await command('doctor', [], env);
    expect(keyless.code).toBe(1);
    expect(keyless.stdout).toMatch(/^WRONG: no valid API key: node cli\.js keys create --name NAME$/m);

    for (const name of ['former', 'app']) await succeed('keys', ['create', '--name', name], env);
    const former = (await succeedJson('keys', ['list', '--json'], env)).find(
      ({ name }: { name: string }) => name === 'former',
    );
    await succeed('keys', ['revoke', former.id], env); // not always 2: the doctor may use up an id
    const well = (await succeed('doctor', [], env)).join('\n');
    expect(well).toMatch(/All is well\.$/);
    expect(well).toMatch(/^ {2}takes writes +yes$/m);
    expect(well).toMatch(/^ {2}API keys +1 valid of 3$/m);
    const migrations = readdirSync(join(import.meta.dirname, '../../migrations')).length;
    expect(well).toMatch(new RegExp(`^ {2}migrations +${migrations} done, 0 pending$`, 'm'));
    const named = well.match(/^ {2}[A-Z_]{4,}(?= )/gm)?.map((name) => name.trim());
    expect(named).toEqual(settingNames());
  });

  test('--json gives the same to programs', async () => {
    const env = { DATABASE_URL: await engine.freshDatabase() };
    await succeed('migrate', [], env);
    await succeed('keys', ['create', '--name', 'app'], env);
    const { code, well, problems, configuration, database, limits } = await examine(env);
    expect([code, well, problems]).toEqual([0, true, []]);
    expect(configuration.map(({ name }: { name: string }) => name)).toEqual(settingNames());
    expect(configuration).toContainEqual({ name: 'WORKERS', value: '1', isDefault: true });
    const session = engine.name === 'mysql' ? { session: 'as the gateway sets it' } : {};
    expect(database).toMatchObject({ 'takes writes': 'yes', 'API keys': '1 valid of 1', ...session });
    expect(database.encryption).toEqual(engine.name === 'mysql' ? expect.stringMatching(/^none: /) : undefined);
    expect(limits.list).toBe('1 to 100 animals, by default 20');
  });

  test('names triggers, and which of them may give ids', async () => {
    const url = await engine.freshDatabase();
    await succeed('keys', ['create', '--name', 'app'], { DATABASE_URL: url });
    const { knex } = await openDatabase(url);
    const [ids, note] =
      engine.name === 'mysql'
        ? ['BEFORE INSERT ON pets FOR EACH ROW SET NEW.`id` = UUID_SHORT()', 'FOR EACH ROW SET @noted = 1']
        : ['AFTER INSERT ON pets BEGIN UPDATE pets SET id = -id WHERE id = NEW.id; END', 'BEGIN SELECT 1; END'];
    await knex.raw(`CREATE TRIGGER given ${ids}`);
    await knex.raw(`CREATE TRIGGER note AFTER INSERT ON pets ${note}`);
    const { database } = await examine({ DATABASE_URL: url });
    expect(database.triggers.split('; ').sort()).toEqual(['given on pets, which may give ids', 'note on pets']);
  });

  test('sees that a create with an Idempotency-Key would be refused', async () => {
    const url = await engine.freshDatabase();
    await succeed('keys', ['create', '--name', 'app'], { DATABASE_URL: url });
    const { knex } = await openDatabase(url);
    await knex.schema.dropTable('idempotency_keys');
    await knex.raw(
      'CREATE TABLE idempotency_keys (id varchar(64) PRIMARY KEY, input_hash varchar(64), result_id bigint, created_at bigint, tenant int NOT NULL)',
    );
    await knex.raw('CREATE INDEX idempotency_keys_created_at ON idempotency_keys (created_at)');
    const { code, problems } = await examine({ DATABASE_URL: url });
    expect([code, problems]).toEqual([1, [expect.stringMatching(/^the database .* writes: .*tenant/)]]);
  });

  if (engine.name !== 'mysql') {
    test('a file that another process has locked: the page is printed', async () => {
      const url = await engine.freshDatabase();
      await succeed('keys', ['create', '--name', 'app'], { DATABASE_URL: url });
      const other = new DatabaseSync(url.slice('sqlite:'.length));
      other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
      const { code, database, problems } = await examine({ DATABASE_URL: url });
      other.close();
      expect([code, database, problems]).toEqual([1, { answers: 'no' }, [expect.stringContaining('locked')]]);
    });

    test('a full disk: no writes are taken', async () => {
      const url = await engine.freshDatabase();
      await succeed('keys', ['create', '--name', 'app'], { DATABASE_URL: url });
      // In blocks of 512 bytes: what the index of the log takes, and less than the rows.
      const node = shellNode(`ulimit -f 64\nexec '${process.execPath}' "$@"`);
      const { exited, stdout } = run('cli/doctor.ts', [], { DATABASE_URL: url }, undefined, node);
      expect((await exited).code).toBe(1);
      expect(stdout()).toMatch(/^ {2}takes writes +no$/m);
    });
    return;
  }

  test.each([
    ['may only read', ['SELECT ON *'], /^the database takes no writes: .*INSERT command denied/],
    [
      'may add animals, and nothing else',
      ['SELECT ON *', 'INSERT ON pets'],
      /writes: .*INSERT command denied.*api_keys/,
    ],
  ])('sees that the account %s', async (_what, grants, line) => {
    const url = await engine.freshDatabase();
    await succeed('keys', ['create', '--name', 'app'], { DATABASE_URL: url });
    const { knex } = await openDatabase(url);
    const user = `reader_${process.pid}`;
    const { host, pathname } = new URL(url);
    await knex.raw(`CREATE USER ${user} IDENTIFIED BY 'reader'`);
    for (const grant of grants) await knex.raw(`GRANT ${grant.replace('ON ', `ON ${pathname.slice(1)}.`)} TO ${user}`);
    const { code, problems } = await examine({ DATABASE_URL: `mysql://${user}:reader@${host}${pathname}` });
    await knex.raw(`DROP USER ${user}`);
    expect([code, problems]).toEqual([1, [expect.stringMatching(line)]]);
  });

  test('sees an index that a list names, and the server ignores', async () => {
    const url = await engine.freshDatabase();
    await succeed('keys', ['create', '--name', 'app'], { DATABASE_URL: url });
    const { knex } = await openDatabase(url);
    const [[{ version }]] = await knex.raw('SELECT version() AS version');
    const hidden = version.includes('MariaDB') ? 'IGNORED' : 'INVISIBLE';
    await knex.raw(`ALTER TABLE pets ALTER INDEX pets_status_id ${hidden}`);
    const { code, problems, database } = await examine({ DATABASE_URL: url });
    expect([code, problems]).toEqual([1, [expect.stringContaining('pets_status_id')]]);
    await knex.raw('ALTER TABLE pets DROP INDEX pets_status_id');
    const without = await examine({ DATABASE_URL: url });
    expect(without.problems).toEqual(['pets: index pets_status_id (status, id) is missing']);
    for (const facts of [database, without.database])
      expect(facts).toMatchObject({ 'takes writes': 'yes', 'API keys': '1 valid of 1' });
  });
});

describe('doctor', () => {
  test('every setting has a place in the configuration, so that its default is shown', async () => {
    const { configuration } = await examine({ DATABASE_URL: 'sqlite::memory:' });
    const without = configuration.filter(({ value }: { value?: string }) => value === undefined);
    // They have none: no file is read, each request has its own address, no proxy is trusted, and probes have no port of their own.
    const names = ['DATABASE_URL_FILE', 'PUBLIC_URL', 'TRUSTED_PROXIES', 'ADMIN_PORT'];
    expect(without).toEqual(names.map((name) => ({ name, isDefault: true })));
    expect(configuration).toContainEqual({ name: 'RATE_LIMIT', value: 'off', isDefault: true });
  });

  test('its limits of animals are those that refuse, whatever type is counted, and there are no others', async () => {
    const { limits } = await examine({ DATABASE_URL: 'sqlite::memory:' });
    const refusalOf = createRefusalOf(schema, 'animals', createPetDocuments());
    const pages = (count: number, page: string) =>
      `{ ${Array.from({ length: count }, (_, index) => `p${index}: ${page}`).join(' ')} }`;
    const values = 'a: __typename b: __typename c: __typename d: __typename e: __typename f: __typename';
    const over = [
      ['animals', pages(6, 'pets(limit: 100) { id }')],
      ['animals', pages(6, 'petsConnection(first: 100) { edges { cursor } }')],
      ['values of animals', `${pages(5, 'pets(limit: 100) { ...V }')} fragment V on Pet { ${values} }`],
      [
        'values of animals',
        `${pages(5, 'petsConnection(first: 100) { edges { ...V } }')} fragment V on PetEdge { ${values} }`,
      ],
    ] as const;
    for (const [what, text] of over) {
      expect(refusalOf(text)).toMatch(new RegExp(` ${what}; the limit is ${limits[`GraphQL ${what}`]}\\.$`));
    }
    const named = [...Object.keys(LIMITS), 'animals', 'values of animals'].map((name) => `GraphQL ${name}`);
    expect(Object.keys(limits).sort()).toEqual(['list', 'body', ...named].sort());
  });

  test.each([
    ['doctor', 1, /^WRONG: there is no database file yet: npm start makes it$/m],
    ['migrate --status', 0, /^pending {2}/m],
  ])('%s makes neither file nor folder', async (call, exitCode, told) => {
    const folder = temporaryFolder();
    const [name = '', ...args] = call.split(' ');
    const { code, stdout } = await command(name, args, {}, folder);
    expect(code).toBe(exitCode);
    expect(stdout).toMatch(told);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('leaves the file as it is, byte for byte', async () => {
    const folder = temporaryFolder();
    const env = { DATABASE_URL: 'sqlite:pets.sqlite' };
    await succeed('seed', ['--pets', '3'], env, folder);
    const before = readFileSync(join(folder, 'pets.sqlite'));
    await command('doctor', [], env, folder);
    expect(readFileSync(join(folder, 'pets.sqlite')).equals(before)).toBe(true);
    expect(readdirSync(folder)).toEqual(['pets.sqlite']);
  });

  test('names what .env has and no setting is; a near miss is wrong, the name of another program is not', async () => {
    const folder = temporaryFolder();
    const settings =
      'DATABASE_URL=sqlite::memory:\nDATABASE_POOL_MAX=7\nLOG_LEVEL=debug\nBODY_LIMIT=2048\nMYSQL_PASSWORD=S3cret\n';
    await writeFile(join(folder, '.env'), settings);
    const others = await examine({ LOG_LEVEL: 'warn', BODY_LIMIT: '' }, folder);
    expect([others.code, others.unknownNames]).toEqual([0, [{ place: '.env', name: 'MYSQL_PASSWORD' }]]);
    expect(others.configuration).toContainEqual({ name: 'DATABASE_POOL_MAX', value: '7', isDefault: false });
    expect(others.configuration).toContainEqual({ name: 'LOG_LEVEL', value: 'warn', isDefault: false }); // set already
    expect(others.configuration).toContainEqual({ name: 'BODY_LIMIT', value: '65536', isDefault: true }); // so it is

    await writeFile(join(folder, '.env'), `${settings}PROT=5000\n`);
    const { code, stdout } = await command('doctor', [], {}, folder);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^ {2}MYSQL_PASSWORD +\.env +no setting$/m);
    expect(stdout).toMatch(/^WRONG: \.env: PROT is no setting of the gateway; did you mean PORT\?$/m);
    expect(stdout).not.toContain('S3cret');
  });

  test('of the environment it names what is close to a setting, and nothing else', async () => {
    const { code, problems, unknownNames } = await examine({ DATABASE_URL: 'sqlite::memory:', DATABSE_URL: 'S3cret' });
    expect([code, problems]).toEqual([
      1,
      ['environment: DATABSE_URL is no setting of the gateway; did you mean DATABASE_URL?'],
    ]);
    expect(unknownNames).toHaveLength(1);
  });

  test.each([
    ['file', 'url'],
    ['pipe, which can be read once only,', '/dev/stdin'],
  ])('shows the address that a %s holds, without its password', async (_what, path) => {
    const folder = temporaryFolder({ url: 'mysql://app:S3cret@127.0.0.1:1/petstore\n' });
    const node = shellNode(`cat url | exec '${process.execPath}' "$@"`);
    const { stdout } = await command('doctor', [], { DATABASE_URL_FILE: path }, folder, node);
    expect(stdout).toMatch(/^ {2}DATABASE_URL +mysql:\/\/app:\*\*\*@127\.0\.0\.1:1\/petstore$/m);
    expect(stdout).toMatch(new RegExp(`^ {2}DATABASE_URL_FILE +${path}$`, 'm'));
    expect(stdout).not.toContain('S3cret');
  });

  test('reads a .env of Windows: a byte order mark, and two characters at the end of a line', async () => {
    const folder = temporaryFolder({ '.env': '\uFEFFDATABASE_URL=sqlite::memory:\r\nexport LOG_LEVEL = debug\r\n' });
    const { code, unknownNames, configuration } = await examine({}, folder);
    expect([code, unknownNames]).toEqual([0, []]);
    expect(configuration).toContainEqual({ name: 'DATABASE_URL', value: 'sqlite::memory:', isDefault: false });
    expect(configuration).toContainEqual({ name: 'LOG_LEVEL', value: 'debug', isDefault: false });
  });

  test.each([
    [
      'as YAML has it',
      'LOG_LEVEL=info\n  PORT: S3cret\n',
      /^The file \.env has PORT without an equals sign: write PORT=…$/,
    ],
    [
      'whose # would cut a path',
      'DATABASE_URL=sqlite:/var/my#store.sqlite\n',
      /^The file \.env has DATABASE_URL with a # that cuts it: write DATABASE_URL='…'$/,
    ],
    ['whose # would cut a password', 'DATABASE_URL=mysql://pet:S3cret#x@h/d', /DATABASE_URL with a # that cuts it/],
    ['as a shell has none', 'export DATABASE_URL S3cret', /^The file \.env has DATABASE_URL without an equals sign/],
    [
      'in UTF-16',
      Buffer.from('\uFEFFPORT=5000\n', 'utf16le'),
      /^The file \.env must be text in UTF-8 that can be read: /,
    ],
  ])('refuses a line of .env %s in one line', async (_how, text, line) => {
    const folder = temporaryFolder({ '.env': text });
    const ended = await command('doctor', [], {}, folder);
    expectFailure(ended, 2, line);
    expect(ended.stderr).not.toContain('S3cret');
  });

  test.each([
    'PORT=5000 # mine',
    'PORT= # pr#5',
    'PUBLIC_URL="https://a.example" # a#b',
    "DATABASE_URL='sqlite::memory:'#",
    '#PORT=4#',
    'X=a#b',
    'HOST-NAME: x',
    'PORT_OLD: x',
    '# PORT: 5000',
    'MYSQL: PORT',
    'PORT =5000',
  ])('takes the line "%s" of .env', async (line) => {
    const folder = temporaryFolder({ '.env': `DATABASE_URL=sqlite::memory:\n${line}\n` });
    expect((await examine({}, folder)).code).toBe(0);
  });

  test('with a database that is away: exit code 1, the page is printed, no password', async () => {
    const port = await freePort();
    const ended = await command('doctor', [], { DATABASE_URL: `mysql://app:S3cr%40t@127.0.0.1:${port}/petstore` });
    expect([ended.code, ended.stderr]).toEqual([1, '']);
    expect(ended.stdout).toMatch(/^ {2}answers +no$/m);
    expect(ended.stdout).toMatch(/^WRONG: The database mysql:\/\/app:\*\*\*@127/m);
    expect(ended.stdout).not.toContain('S3cr');
  });
});
