import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeEachEngine, temporaryFolder } from '../support/engines.ts';
import { readBlock, runBlock } from '../support/page-blocks.ts';
import { freePort } from '../support/ports.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { startProcess } from '../support/process.ts';
import { has } from '../support/tools.ts';
import { ROOT } from '../support/tracked-files.ts';

const PAGE = 'docs/drills.md';

/** Runs a drill in the folder of the gateway; it must print what the page shows. */
async function expectShown(drill: string, env: Record<string, string>, folder = ROOT): Promise<void> {
  const { stdout, stderr } = await runBlock(readBlock(PAGE, `bash ${drill}`), folder, env);
  expect({ stdout, stderr }).toEqual({ stdout: readBlock(PAGE, `text ${drill}`), stderr: '' });
}

/** What a later release may do to the schema. */
const NEWER = `
export const up = (knex) => knex.raw('ALTER TABLE pets ADD COLUMN nickname VARCHAR(20) NULL');
export const down = (knex) => knex.raw('ALTER TABLE pets DROP COLUMN nickname');
`;

const hasCurl = has('curl');
const test = it.runIf(hasCurl);

describeEachEngine('drills', (engine) => {
  /** What the page's table names. */
  const startPair = async () => {
    const { url, key } = await prepareDatabase(engine);
    const [a, b] = [await startProcess({ DATABASE_URL: url }), await startProcess({ DATABASE_URL: url })];
    return { A: a.url, A_PID: String(a.child.pid), B: b.url, KEY: key, DATABASE_URL: url };
  };

  test('kill a node', async () => {
    await expectShown('kill-a-node', await startPair());
  });

  it.runIf(hasCurl && engine.name === 'sqlite' && has('namespaces'))('fill the disk', async () => {
    const env = { PORT: String(await freePort()), BLOCK: readBlock(PAGE, 'bash fill-the-disk') };
    const { stdout, stderr } = await runBlock('exec unshare -rm bash -c "$BLOCK"', ROOT, env);
    expect({ stdout, stderr }).toEqual({ stdout: readBlock(PAGE, 'text fill-the-disk'), stderr: '' });
  });

  test('revoke a key', async () => {
    await expectShown('revoke-a-key', await startPair());
  });

  test('roll back a release', async () => {
    const { url, key } = await prepareDatabase(engine);
    const [OLD, NEW] = [temporaryFolder(), temporaryFolder()];
    for (const folder of [OLD, NEW]) {
      for (const name of ['src', 'migrations']) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
      for (const name of ['start.js', 'cli.js', 'package.json', 'schema.graphql'])
        cpSync(join(ROOT, name), join(folder, name));
      symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
      // What a release has in use; the drill's gateways are asked at an address and a port of their own.
      writeFileSync(join(folder, '.env'), `HOST=127.0.0.2\nADMIN_PORT=${await freePort()}\n`);
    }
    writeFileSync(join(NEW, 'migrations/20991231_009_newer.ts'), NEWER);
    await expectShown('roll-back', { OLD, NEW, DATABASE_URL: url, KEY: key, PORT: String(await freePort()) });
  });
});
