import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
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

  test('start.js says in one line that an older Node is too old', async () => {
    // The version that the file reads is the only thing that tells it of the Node that runs it.
    const older = "Object.defineProperty(process.versions, 'node', { value: '20.20.2' });";
    const preload = `data:text/javascript,${encodeURIComponent(older)}`;
    const failed = await runFile(process.execPath, ['--import', preload, join(ROOT, 'start.js')]).catch(
      (error) => error,
    );
    expect(failed).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'The Petstore Gateway needs Node 24 or newer; this is Node 20.20.2.\n',
    });
  });
});
