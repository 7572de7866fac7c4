import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { readConfig, settingNames } from '../../src/config.ts';
import { createMetrics } from '../../src/metrics.ts';
import { temporaryFolder } from '../support/engines.ts';
import { ROOT } from '../support/tracked-files.ts';

const runFile = promisify(execFile);
const SYSTEM_PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
const file = (name: string) => join(ROOT, 'deploy', name);
const read = (name: string) => readFileSync(file(name), 'utf8');

/** Runs a checker of the system; its complaints are the failure. */
const check = (command: string, ...words: string[]) =>
  runFile(command, words, { env: { PATH: SYSTEM_PATH, HOME: temporaryFolder() } });

/** A test that needs a program: on CI it must be there, elsewhere its absence is said. */
function testWith(program: string, name: string, body: () => Promise<unknown>): void {
  test(name, async ({ skip }) => {
    const isThere = await check('sh', '-c', `command -v ${program}`).then(
      () => true,
      () => false,
    );
    skip(!isThere && process.env.CI !== 'true', `${program} is not installed`);
    await expect(body()).resolves.not.toThrow();
  });
}

function selfSigned(folder: string): { key: string; certificate: string } {
  const [key, certificate] = [join(folder, 'privkey.pem'), join(folder, 'fullchain.pem')];
  const words = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    '/CN=pets.example.com',
  ];
  execFileSync('openssl', [...words, '-days', '2', '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  return { key, certificate };
}

describe('deploy/', () => {
  testWith('nginx', 'nginx takes nginx.conf', async () => {
    const folder = temporaryFolder();
    const { key, certificate } = selfSigned(folder);
    const site = read('nginx.conf')
      .replace(/\S+privkey\.pem/, key)
      .replace(/\S+fullchain\.pem/, certificate);
    writeFileSync(join(folder, 'site.conf'), site);
    writeFileSync(
      join(folder, 'main.conf'),
      `pid ${folder}/pid;\nevents {}\nhttp { access_log off; include site.conf; }\n`,
    );
    await check('nginx', '-t', '-q', '-e', 'stderr', '-p', folder, '-c', join(folder, 'main.conf'));
  });

  testWith('caddy', 'Caddy takes Caddyfile', () =>
    check('caddy', 'validate', '--config', file('Caddyfile'), '--adapter', 'caddyfile'),
  );

  testWith('promtool', 'Prometheus takes prometheus.yml and alerts.yml', () =>
    check('promtool', 'check', 'config', file('prometheus.yml')),
  );

  testWith('systemd-analyze', 'systemd takes petstore-gateway.service', async () => {
    const unit = join(temporaryFolder(), 'petstore-gateway.service');
    writeFileSync(unit, read('petstore-gateway.service').replace('/usr/bin/node', process.execPath));
    await check('systemd-analyze', 'verify', unit);
  });

  test('every metric of the alerts is one of ours', async () => {
    const { registry } = createMetrics(() => ({ used: 0, free: 0, waiting: 0 }));
    const known = (await registry.getMetricsAsJSON()).map(({ name }) => name);
    const named = [...read('alerts.yml').matchAll(/\b(\w+)\{job=/g)].map(([, name = '']) =>
      name.replace(/_count$/, ''),
    );
    expect(named.filter((name) => name !== 'up' && !known.includes(name))).toEqual([]);
    expect(named).toContain('http_request_duration_seconds');
  });

  test('kubernetes.yaml sets what the gateway knows, and leaves it time to drain', () => {
    const documents = parseAllDocuments(read('kubernetes.yaml'));
    expect(documents.flatMap((document) => [...document.errors, ...document.warnings])).toEqual([]);
    const [deployment] = documents.map((document) => document.toJS());
    const pod = deployment.spec.template.spec;
    const [gateway] = pod.containers;
    const settings: { name: string; value?: string }[] = gateway.env;
    expect(settings.filter(({ name }) => !settingNames().includes(name))).toEqual([]);
    const { shutdownGraceMs } = readConfig(Object.fromEntries(settings.map(({ name, value }) => [name, value])));
    const sleepSeconds = Number(gateway.lifecycle.preStop.exec.command[1]);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(sleepSeconds + shutdownGraceMs / 1000);
    expect(gateway.livenessProbe.httpGet.path).toBe('/livez');
    expect(gateway.readinessProbe.httpGet.path).toBe('/readyz');
  });
});
