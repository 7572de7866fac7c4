import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { send } from '../support/client.ts';
import { temporaryFolder } from '../support/engines.ts';
import { startProcess } from '../support/process.ts';
import { ROOT } from '../support/tracked-files.ts';
import { succeed } from './command.ts';

const runFile = promisify(execFile);
const GREETED = /\/graphql#key=(petstore_[0-9A-Za-z]{38})\n/;

describe('npm start', () => {
  test("on sqlite::memory: is a newcomer's start: animals, and a key that works", async () => {
    const started = await startProcess({ DATABASE_URL: 'sqlite::memory:' });
    const [, key = ''] = await started.waitFor(GREETED);
    const { json } = await send(`${started.url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
    expect(json).not.toEqual([]);
    expect(existsSync(join(started.folder, 'data'))).toBe(false);
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

describe('under an older Node', () => {
  const programs = Object.entries(packageJson.scripts).filter(([, call]) => call.startsWith('node '));

  const runUnder = (version: string, call: string) => {
    const other = join(temporaryFolder(), 'other.cjs');
    // The version is the only thing that the check reads of the Node that runs it.
    writeFileSync(other, `Object.defineProperty(process.versions, 'node', { value: '${version}' });`);
    const env = { NODE_OPTIONS: `-r ${other}`, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
    return runFile('sh', ['-c', call], { cwd: ROOT, env });
  };

  test.concurrent.each(programs)('npm run %s says in one line where a newer one comes from', async (_name, call) => {
    const failed = await runUnder('20.20.2', `${call} --help`).catch((error) => error);
    expect(failed).toMatchObject({ code: 2, stdout: '' });
    expect(failed.stderr).toMatch(
      /^The Petstore Gateway needs Node 24 or newer, and this is Node 20\.20\.2: install [^\n]+ npm ci [^\n]+\n$/,
    );
  });

  test('the first one that is new enough is not refused', async () => {
    const { stdout } = await runUnder('24.0.0', `${packageJson.scripts.keys} --version`);
    expect(stdout).toBe(`${packageJson.version}\n`);
  });

  test('these are all commands', () => {
    expect(programs.map(([name]) => name)).toEqual(expect.arrayContaining(['start', 'dev', 'keys', 'doctor', 'bench']));
    expect(programs).toHaveLength(9);
  });
});
