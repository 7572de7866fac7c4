import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { settingNames } from '../../src/gateway/config.ts';
import { expectHealed, expectPromisesKept } from '../faults/expect-promises.ts';
import { runFault } from '../faults/fault-run.ts';
import type { StoredPet } from '../faults/ledger.ts';
import { sendHalf } from '../process/half-sent.ts';
import { type Answer, send } from '../support/client.ts';
import { eventually, served, unlessShed } from '../support/load.ts';
import { readBlock } from '../support/page-blocks.ts';
import { freePort } from '../support/ports.ts';
import { RETRY_LATE } from '../support/stall-clock.ts';
import { ROOT } from '../support/tracked-files.ts';
import { type ComposeProject, composeProject } from './docker.ts';

/** Longer than images are built, and a database is made, on a busy machine. */
const UP_MS = 900_000;
const IN_FLIGHT = 10;
/** Longer than a probe takes on a busy machine, and shorter than a request's body may take. */
const LATE_MS = 5000;

/** Every setting that `.env.example` names, with a value. */
const examples = [...readFileSync(join(ROOT, '.env.example'), 'utf8').matchAll(/^#?([A-Z_]+)=(.+)$/gm)];
const settings: Record<string, string> = {
  ...Object.fromEntries(examples.map(([, name = '', value = '']) => [name, value])),
  // The file is not there, and compose makes the address itself; the probes are asked at PORT.
  DATABASE_URL_FILE: '',
  ADMIN_PORT: '',
  WORKERS: '2',
  RATE_LIMIT: '1000000/1s',
  LOG_LEVEL: 'debug',
  // On a busy machine the usual 10 s may pass between the signal and what a test does next.
  SHUTDOWN_GRACE_MS: '60000',
  GATEWAY_STOP_GRACE: '65s',
};

describe('docker compose, as docs/run.md says', () => {
  let compose: ComposeProject;
  let url: string;
  let key: string;

  const onPage = (name: string) => compose.run(readBlock('docs/run.md', `bash compose-${name}`));
  const ask = (path: string, body?: unknown, signal?: AbortSignal): Promise<Answer> =>
    send(url + path, {
      ...(signal && { signal }),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
  /** `late`: node:cluster may keep a connection that came while the last worker closed its port, until the workers end. */
  const status = (path: string) =>
    ask(path, undefined, AbortSignal.timeout(LATE_MS)).then(
      (answer) => answer.status,
      (error: Error) => (error.name === 'TimeoutError' ? 'late' : 'no answer'),
    );
  const isReady = () => eventually(async () => (await status('/readyz')) === 200, 120_000, 'the gateway is ready');
  const inGateway = (command: string) => compose.run(`docker compose exec gateway ${command}`);
  /** Of two workers one may be ready before the other, so what is ready may yet refuse. */
  const read = (path: string) => served(() => ask(path));
  const stored = async (): Promise<StoredPet[]> => {
    const pets: StoredPet[] = [];
    for (let after = ''; ; after = `&after=${pets.at(-1)?.id}`) {
      const page: StoredPet[] = (await read(`/v1/pets?limit=100${after}`)).json;
      pets.push(...page);
      if (page.length < 100) return pets;
    }
  };

  beforeAll(async () => {
    settings.PORT = String(await freePort());
    url = `http://127.0.0.1:${settings.PORT}`;
    compose = await composeProject(settings);
    key = (await onPage('start')).trimEnd().split('\n').at(-1) ?? '';
  }, UP_MS);

  test('it starts, and the last line is a key', async () => {
    expect(key).toMatch(/^petstore_\w{38}$/);
    expect(await status('/readyz')).toBe(200);
    expect((await read('/v1/pets')).text).toBe('[]');
    const rex = { name: 'Rex 🐾', categoryId: 1, status: 'sold' };
    const created = await unlessShed(() => ask('/v1/pets', rex));
    expect(created.status).toBe(201);
    expect((await read('/v1/pets?status=sold')).json).toEqual([created.json]);
    const { json } = await served(() => ask('/graphql', { query: '{ pets { id name status } }' }));
    expect(json.data.pets).toEqual([{ id: String(created.json.id), name: 'Rex 🐾', status: 'SOLD' }]);
  });

  test('every setting of .env reaches the process', async () => {
    const { configuration, well } = JSON.parse(await inGateway('node cli.js doctor --json'));
    const ours = ['HOST', 'PORT', 'DATABASE_URL']; // those are the container's own affair
    const names = settingNames().filter((name) => !ours.includes(name));
    const seen = configuration.filter(({ name }: { name: string }) => !ours.includes(name));
    expect(seen).toEqual(
      names.map((name) => ({ name, value: settings[name] || undefined, isDefault: !settings[name] })),
    );
    expect(well).toBe(true);
    const list = await read('/v1/pets?limit=1');
    expect(list.headers.get('ratelimit-policy')).toContain('q=1000000');
  });

  test('doctor finds all well', async () => {
    expect(await onPage('look')).toContain('All is well.');
  });

  test('the image has every command, what backs up an embedded store, and the licence', async () => {
    const commands = Object.values(packageJson.scripts).filter((script) => /^node cli\.js \w+$/.test(script));
    expect(commands.length).toBeGreaterThan(5);
    const helps = await inGateway(`sh -ec '${commands.map((command) => `${command} --help`).join('; ')}'`);
    expect(helps.match(/^ {2}npm run /gm)?.length).toBeGreaterThanOrEqual(commands.length);
    const [store, backup, restored] = ['/tmp/store.sqlite', '/tmp/backup.sqlite', '/tmp/restored.sqlite'];
    const kept = `DATABASE_URL=sqlite:${store} node cli.js migrate
      node deploy/backup.js ${store} ${backup}; node deploy/restore.js ${restored} < ${backup}; ls ${restored}`;
    expect(await inGateway(`sh -ec '${kept}'`)).toContain(`\n${restored}\n`);
    expect(await inGateway('cat LICENSE')).toBe(readFileSync(join(ROOT, 'LICENSE'), 'utf8'));
  });

  test('the database restarts under load: right or 503, nothing lost or doubled', RETRY_LATE, async () => {
    const strike = async () => {
      await compose.run('docker compose restart mysql');
      await isReady();
    };
    const result = await runFault({ url, key, stored }, { strike });
    expectPromisesKept(result);
    expectHealed(result);
    expect(result.unavailable).toBeGreaterThan(0);
  });

  test('a stop answers what is in flight', async () => {
    const names = Array.from({ length: IN_FLIGHT }, (_, number) => `in flight ${number}`);
    const begun = await Promise.all(names.map((name) => sendHalf(url, key, name)));
    const stopping = compose.run('docker compose stop gateway');
    await eventually(async () => (await status('/livez')) === 'no answer', 30_000, 'no new connection is taken');
    const answers = await Promise.all(begun.map(({ finish }) => finish()));
    await stopping;
    const log = await compose.run('docker compose logs --tail 50 gateway');
    for (const answer of answers) expect(answer, log).toMatch(/^HTTP\/1.1 201 [\s\S]*^connection: close\r$/im);
    const ended = await compose.run("docker compose ps --all --format '{{.State}} {{.ExitCode}}' gateway");
    expect(ended.trim()).toBe('exited 0');
    await compose.run('docker compose start gateway');
    await isReady();
    const there = (await stored()).map(({ name }) => name);
    expect(there.filter((name) => name.startsWith('in flight')).sort()).toEqual(names);
  });

  test('a gateway that starts without its database waits for it', async () => {
    await compose.run('docker compose stop mysql');
    await compose.run('docker compose restart gateway');
    await eventually(async () => (await status('/livez')) === 200, 60_000, 'the gateway is alive');
    expect(await status('/readyz')).toBe(503);
    await compose.run('docker compose start mysql');
    await isReady();
  });

  test('a backup brings back what was there, and nothing else', async () => {
    const before = await stored();
    await compose.run(readBlock('docs/upgrade.md', 'bash compose-backup'));
    const later = await served(() => ask('/v1/pets', { name: 'later', categoryId: 1 }));
    expect(later.status).toBe(201);
    await compose.run('mv backup.sql restore.sql');
    await compose.run(readBlock('docs/upgrade.md', 'bash compose-restore'));
    expect(await stored()).toEqual(before);
  });

  test(
    'down ends both; the next start finds all animals and the key',
    async () => {
      const before = await stored();
      await onPage('end');
      expect(await status('/livez')).toBe('no answer');
      await compose.run('docker compose up --wait');
      expect(await stored()).toEqual(before);
    },
    UP_MS,
  );
});
