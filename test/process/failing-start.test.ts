import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { send } from '../support/client.ts';
import { afterFile, SQLITE, temporaryFolder } from '../support/engines.ts';
import { eventually } from '../support/load.ts';
import { freePort } from '../support/ports.ts';
import { run, startProcess } from '../support/process.ts';

/** Starts a gateway that cannot start: exit code, and one line on standard error. */
async function failToStart(env: Record<string, string>, folder?: string) {
  const started = run('main.ts', [], { PORT: '0', LOG_LEVEL: 'error', ...env }, folder);
  const { code } = await started.exited;
  expect(started.stderr()).toMatch(/^[^\n]+\n$/);
  expect(started.stdout()).toBe('');
  return { code, line: started.stderr().trimEnd() };
}

describe.concurrent('a start that fails', () => {
  it.each(['1', '2'])('the port is in use, WORKERS=%s: says so and what to do', async (workers) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    afterFile(() => void other.close());
    const { port } = other.address() as { port: number }; // it listens on a port
    const away = `mysql://app@127.0.0.1:${await freePort()}/petstore`; // for which it would wait
    const { code, line } = await failToStart({ PORT: String(port), WORKERS: workers, DATABASE_URL: away });
    expect(line).toBe(
      `Port ${port} of 127.0.0.1 is in use by another program: stop that one, or choose another with PORT=${port + 1} npm start`,
    );
    expect(code).toBe(1);
  });

  test('a wrong value in a .env file is a wrong value', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, '.env'), 'BODY_LIMIT=64k\n');
    const { code, line } = await failToStart({}, folder);
    expect(line).toMatch(/^BODY_LIMIT="64k" is not allowed/);
    expect(code).toBe(2);
  });

  test('the folder of the SQLite file cannot be made: one line, exit code 2', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'file'), '');
    const { code, line } = await failToStart({ DATABASE_URL: 'sqlite:file/petstore.sqlite' }, folder);
    expect(line).toMatch(/^DATABASE_URL: the folder .* cannot be made/);
    expect(code).toBe(2);
  });
});

describe.concurrent('a start', () => {
  test('PORT=0 takes a free port and prints it', async () => {
    const url = await SQLITE.freshDatabase();
    const both = await Promise.all([startProcess({ DATABASE_URL: url }), startProcess({ DATABASE_URL: url })]);
    const ports = both.map((started) => Number(new URL(started.url).port));
    expect(new Set(ports).size).toBe(2);
    expect(ports.every((port) => port > 0)).toBe(true);
    for (const started of both) expect((await send(`${started.url}/livez`)).status).toBe(200);
  });

  it.each(['1', '2'])(
    'with MIGRATE_ON_START=false and WORKERS=%s it is not ready before the migration, and then it is',
    async (workers) => {
      const env = { DATABASE_URL: await SQLITE.freshDatabase(), MIGRATE_ON_START: 'false', WORKERS: workers };
      const { url, stdout, child } = await startProcess(env);
      const early = await send(`${url}/readyz`);
      expect([early.status, early.json.code]).toEqual([503, 'service_unavailable']);
      expect((await run('cli/migrate.ts', [], env).exited).code).toBe(0);
      const isReady = async () => (await send(`${url}/readyz`)).status === 200; // asked of the database once a second
      await eventually(isReady, 20_000, 'it is ready');
      expect(child.exitCode).toBeNull();
      expect(stdout()).not.toContain('petstore_');
    },
  );
});
