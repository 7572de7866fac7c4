import { describe, expect, test } from 'vitest';
import { send } from '../support/client.ts';
import { SQLITE } from '../support/engines.ts';
import { eventually } from '../support/load.ts';
import { freePort } from '../support/ports.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { run, startProcess } from '../support/process.ts';
import { startSilent } from '../support/served-app.ts';
import { RETRY_LATE } from '../support/stall-clock.ts';

const PROBES = ['/livez', '/readyz', '/metrics'];
const OTHERS = ['/', '/docs', '/v1/pets', '/v1/openapi.json', '/schema.graphql', '/graphql', '/nowhere'];

/** A gateway with probes and metrics at a port of their own. */
async function startApart(env: Record<string, string>) {
  const { url: databaseUrl, key } = await prepareDatabase(SQLITE);
  const adminPort = await freePort();
  const settings = { DATABASE_URL: databaseUrl, ADMIN_PORT: String(adminPort), ...env };
  const gateway = await startProcess(settings);
  const headers = { authorization: `Bearer ${key}`, connection: 'close' };
  const statuses = async (url: string, paths: readonly string[]) =>
    Promise.all(paths.map(async (path) => [path, (await send(url + path, { headers })).status]));
  return { ...gateway, settings, adminUrl: `http://127.0.0.1:${adminPort}`, statuses };
}

const all = (paths: readonly string[], status: number) => paths.map((path) => [path, status]);

describe.each(['1', '2'])('with ADMIN_PORT and WORKERS=%s', (workers) => {
  test('probes and metrics are served there, and nowhere else; all else is not', RETRY_LATE, async () => {
    const { url, adminUrl, statuses, child, exited } = await startApart({ WORKERS: workers });
    // A primary that still starts a worker may give no metrics in time.
    const probed = async () => {
      const found = await statuses(adminUrl, PROBES);
      return !found.some(([path, status]) => path === '/metrics' && status === 503) && found;
    };
    expect(await eventually(probed, 30_000, 'the metrics are there')).toEqual(all(PROBES, 200));
    expect(await statuses(url, PROBES)).toEqual(all(PROBES, 404));
    expect(await statuses(adminUrl, OTHERS)).toEqual(all(OTHERS, 404));
    expect(await statuses(url, OTHERS.slice(0, 5))).toEqual(all(OTHERS.slice(0, 5), 200));
    expect((await send(`${url}/`)).text).not.toMatch(/livez|metrics/);
    expect((await send(`${url}/livezz`)).text).not.toContain('livez?');
    // They are requests as others are.
    const refused = await send(`${adminUrl}/livez`, { method: 'POST' });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const counted = async () => /operation="livez",status="200"/.test((await send(`${adminUrl}/metrics`)).text);
    await eventually(counted, 10_000, 'a probe is counted');

    child.kill('SIGTERM');
    const drains = async () => {
      const asked = send(`${adminUrl}/readyz`, { headers: { connection: 'close' } });
      const { status } = await asked.catch((cause) => {
        throw new Error('late: it listens no more', { cause });
      });
      return status === 503;
    };
    await eventually(drains, 10_000, 'it says that it stops');
    expect(await exited).toEqual({ code: 0, signal: null });
  });

  test('a port that is in use is named, with its setting, and ends the start', async () => {
    const port = await startSilent();
    const { url: databaseUrl } = await prepareDatabase(SQLITE);
    const env = { DATABASE_URL: databaseUrl, PORT: String(await freePort()), WORKERS: workers };
    const started = run('main.ts', [], { ...env, ADMIN_PORT: String(port) });
    expect((await started.exited).code).toBe(1);
    expect(started.stderr()).toMatch(
      new RegExp(`^Port ${port} of 127\\.0\\.0\\.1 is in use .*ADMIN_PORT=${port + 1} `),
    );
    expect(started.stderr().trim()).not.toContain('\n');
  });
});

test('a start that waits for its database says so at ADMIN_PORT', async () => {
  const [port, adminPort, away] = [await freePort(), await freePort(), await freePort()];
  const env = { DATABASE_URL: `mysql://app@127.0.0.1:${away}/petstore`, PORT: `${port}`, ADMIN_PORT: `${adminPort}` };
  const waiting = run('main.ts', [], env);
  await waiting.waitFor(new RegExp(`127\\.0\\.0\\.1:${adminPort}/livez is 200`));
  const status = async (at: number, path: string) => (await send(`http://127.0.0.1:${at}${path}`)).status;
  expect([await status(adminPort, '/livez'), await status(adminPort, '/readyz')]).toEqual([200, 503]);
  expect([await status(port, '/livez'), await status(port, '/v1/pets')]).toEqual([404, 503]);
  await waiting.stop();
});
