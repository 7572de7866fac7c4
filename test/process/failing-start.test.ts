import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, test } from 'vitest';
import { explainFailure } from '../../src/gateway/command-line.ts';
import { migrateUp } from '../../src/gateway/database/migrations.ts';
import { send } from '../support/client.ts';
import { afterFile, SQLITE, temporaryFolder } from '../support/engines.ts';
import { eventually } from '../support/load.ts';
import { freePort } from '../support/ports.ts';
import { openDatabase } from '../support/prepared.ts';
import { run, startProcess } from '../support/process.ts';
import { startSilent } from '../support/served-app.ts';
import { noteLeftOut } from '../support/tools.ts';

const HAS_IPV6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
if (!HAS_IPV6) noteLeftOut('IPv6', 'an interface with ::1');

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
    const port = await startSilent();
    const away = `mysql://app@127.0.0.1:${await freePort()}/petstore`; // for which it would wait
    const { code, line } = await failToStart({ PORT: String(port), WORKERS: workers, DATABASE_URL: away });
    expect(line).toBe(
      `Port ${port} of 127.0.0.1 is in use by another program: stop that one, or choose another with PORT=${port + 1} npm start`,
    );
    expect(code).toBe(1);
  });

  // Of a network that nobody has, RFC 5737; an interface that comes up later may have such an address.
  it.each(['1', '2'])('an address of another machine, WORKERS=%s: names the setting, exit code 1', async (workers) => {
    const line = 'HOST="192.0.2.1" is not allowed: an address or a name of this machine';
    expect(await failToStart({ HOST: '192.0.2.1', WORKERS: workers })).toEqual({ code: 1, line });
  });

  // A link-local address is one only with its zone, RFC 4007 §11.
  it.runIf(HAS_IPV6).each(['1', '2'])(
    'a link-local address without its zone, WORKERS=%s: exit code 2',
    async (workers) => {
      const line = 'HOST="fe80::1" is not allowed: an address or a name of this machine';
      expect(await failToStart({ HOST: 'fe80::1', WORKERS: workers })).toEqual({ code: 2, line });
    },
  );

  test('a wrong value in a .env file is a wrong value', async () => {
    const { code, line } = await failToStart({}, temporaryFolder({ '.env': 'BODY_LIMIT=64k\n' }));
    expect(line).toMatch(/^BODY_LIMIT="64k" is not allowed/);
    expect(code).toBe(2);
  });

  test('the folder of the SQLite file cannot be made: one line, exit code 2', async () => {
    const env = { DATABASE_URL: 'sqlite:file/petstore.sqlite' };
    const { code, line } = await failToStart(env, temporaryFolder({ file: '' }));
    expect(line).toMatch(/^DATABASE_URL: the folder .* cannot be made/);
    expect(code).toBe(2);
  });
});

describe('where nothing can listen', () => {
  /** What is said when Node reports that it cannot listen. */
  const explain = (code: string, syscall: string, config: { host?: string; port?: number }) =>
    explainFailure(Object.assign(new Error(`${syscall} ${code}`), { code, syscall }), {
      ...{ host: '127.0.0.1', port: 4000, databaseUrl: 'sqlite:x', adminPort: undefined },
      ...config,
    });

  it.each([
    ['ENOTFOUND', 2],
    ['EAI_AGAIN', 1], // a name server that does not answer may do so later
  ])('a name: %s, exit code %i', (code, exitCode) => {
    const line = 'HOST="pets.example" is not allowed: an address or a name of this machine';
    expect(explain(code, 'getaddrinfo', { host: 'pets.example' })).toEqual({ line, exitCode });
  });

  test('a port of the privileged: names the setting; a file that may not be opened is none', () => {
    const line = 'PORT="80" is not allowed: a port that this user may listen at, such as 4000';
    for (const syscall of ['listen', 'bind'])
      expect(explain('EACCES', syscall, { port: 80 })).toEqual({ line, exitCode: 2 });
    for (const code of ['EACCES', 'EINVAL'])
      expect(explain(code, 'open', { port: 80 })).toEqual({ line: `open ${code}`, exitCode: 1 });
  });

  test('the last port in use: another that there is', () => {
    expect(explain('EADDRINUSE', 'listen', { port: 65_535 }).line).toMatch(/PORT=65534 npm start$/);
  });
});

describe.concurrent('a start', () => {
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

  test('with HOST=:: is reached by IPv4, and by IPv6 where there is one', async () => {
    const { url } = await startProcess({ DATABASE_URL: 'sqlite::memory:', HOST: '::' });
    for (const host of ['127.0.0.1', ...(HAS_IPV6 ? ['[::1]'] : [])]) {
      expect((await send(`http://${host}:${new URL(url).port}/livez`)).status).toBe(200);
    }
  });

  test('a greeting that fails does not end it', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'data/petstore.sqlite'); // a newcomer's
    await migrateUp(await openDatabase(`sqlite:${path}`));
    const other = new DatabaseSync(path);
    afterFile(() => other.close());
    other.exec('BEGIN IMMEDIATE'); // nobody else can write
    const gateway = await startProcess({ MIGRATE_ON_START: 'false' }, folder);
    await gateway.waitFor(/the greeting could not be given/);
    expect((await send(`${gateway.url}/livez`)).status).toBe(200);
    await gateway.stop();
  });
});
