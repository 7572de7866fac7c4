import { execFile } from 'node:child_process';
import { cpSync, existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { VERSION } from '../../src/gateway/product.ts';
import { send } from '../support/client.ts';
import { temporaryFolder } from '../support/engines.ts';
import { run, startProcess } from '../support/process.ts';
import { ROOT } from '../support/tracked-files.ts';
import { succeed } from './command.ts';

const runFile = promisify(execFile);
const BIN = join(ROOT, 'node_modules/.bin');
const GREETED = /\/graphql#key=(petstore_[0-9A-Za-z]{38})\n/;

describe('npm start', () => {
  test("on sqlite::memory: is a newcomer's start: animals, and a key that works", async () => {
    const started = await startProcess({ DATABASE_URL: 'sqlite::memory:' });
    const [, key = ''] = await started.waitFor(GREETED);
    const { json } = await send(`${started.url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
    expect(json).not.toEqual([]);
    expect(existsSync(join(started.folder, 'data'))).toBe(false);
  });

  test.each([
    ['', /the database is sqlite:\/\S+\/data\/petstore\.sqlite, because DATABASE_URL is not set"/],
    ['sqlite:own.sqlite', /the database is sqlite:\/\S+\/own\.sqlite"/],
    ['sqlite::memory:', /the database is sqlite::memory:"/],
    ['mysql://app:S3cret@127.0.0.1:1/petstore', /the database is mysql:\/\/app:\*\*\*@127\.0\.0\.1:1\/petstore"/],
  ])('with DATABASE_URL=%s its first line says which database is served', async (DATABASE_URL, line) => {
    const started = run('main.ts', [], { DATABASE_URL, DATABSE_URL: 'x', PORT: '0' });
    await started.waitFor(/did you mean DATABASE_URL/);
    const firstOfLog = started
      .stdout()
      .split('\n')
      .find((text) => text.startsWith('{')); // a greeting may stand before it
    expect(firstOfLog).toMatch(line);
    expect(started.stdout()).not.toContain('S3cret');
  });

  test('with MIGRATE_ON_START=false says what is missing, and greets when that is done', async () => {
    const folder = temporaryFolder();
    const env = { MIGRATE_ON_START: 'false' };
    const before = await startProcess(env, folder);
    await before.waitFor(/Migrations are pending: npm run migrate\n/);
    before.child.kill();
    await before.exited;
    await succeed('migrate', [], env, folder);
    const [, key] = await (await startProcess(env, folder)).waitFor(GREETED);
    expect(key).toMatch(/^petstore_/);
  });
});

describe('what no start can do without', () => {
  test.each([
    ['a package', {}, /^The Petstore Gateway lacks its package \S+: run npm ci\n$/],
    [
      'functions of texts',
      { NODE_OPTIONS: '--disallow-code-generation-from-strings' },
      /^The Petstore Gateway has packages that [^\n]+: take --disallow-code-generation-from-strings out of [^\n]+\n$/,
    ],
  ])('%s is named in one line', async (what, env, line) => {
    const folder = temporaryFolder();
    for (const file of ['package.json', 'start.js', 'src/cli/preload.cjs'])
      cpSync(join(ROOT, file), join(folder, file));
    if (what !== 'a package') symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const started = runFile(process.execPath, ['start.js'], { cwd: folder, env });
    expect(await started.catch((error) => error)).toMatchObject({ code: 2, stderr: expect.stringMatching(line) });
  });
});

describe('under an older Node', () => {
  // `--help` would end them early, if they did not end before; vitest has its own, which reads no configuration.
  const programs = Object.entries(packageJson.scripts).flatMap(([name, call]) => {
    if (call.startsWith('vitest ')) return [[name, call]];
    return call.startsWith('node ') ? [[name, `${call} --help`]] : [];
  });

  const runUnder = (version: string, call: string, glibc?: string) => {
    const other = join(temporaryFolder(), 'other.cjs');
    // The version, and that of the C library, are all that the check reads of the Node that runs it.
    const report = JSON.stringify({ header: { glibcVersionRuntime: glibc } });
    writeFileSync(
      other,
      `Object.defineProperty(process.versions, 'node', { value: '${version}' }); process.report.getReport = () => (${report});`,
    );
    const env = { NODE_OPTIONS: `-r ${other}`, PATH: `${BIN}:${dirname(process.execPath)}:${process.env.PATH}` };
    return runFile('sh', ['-c', call], { cwd: ROOT, env });
  };

  test.concurrent.each(programs)('npm run %s says in one line where a newer one comes from', async (_name, call) => {
    const failed = await runUnder('20.20.2', call, '2.36').catch((error) => error);
    expect(failed).toMatchObject({ code: 2, stdout: '' });
    expect(failed.stderr).toMatch(
      /^The Petstore Gateway needs Node 24 or newer, and this is Node 20\.20\.2: install [^\n]+ npm ci [^\n]+\n$/,
    );
  });

  test('with musl, for which npm brings none, only a newer one is the cure', async () => {
    const failed = await runUnder('20.20.2', packageJson.scripts.start).catch((error) => error);
    expect(failed.stderr).toMatch(
      /^The Petstore Gateway needs [^\n]+: install a newer one; npm ci brings none for musl\n$/,
    );
  });

  test('the first one that is new enough is not refused', async () => {
    const { stdout } = await runUnder('24.0.0', `${packageJson.scripts.keys} --version`);
    expect(stdout).toBe(`${VERSION}\n`);
  });

  test('these are all commands', () => {
    expect(programs.map(([name]) => name)).toEqual(
      expect.arrayContaining(['start', 'dev', 'keys', 'doctor', 'bench', 'test', 'test:fast']),
    );
    expect(programs).toHaveLength(13);
  });
});
