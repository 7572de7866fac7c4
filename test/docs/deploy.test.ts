import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { readConfig, settingNames } from '../../src/gateway/config.ts';
import { makeCertificate } from '../support/certificate.ts';
import { temporaryFolder } from '../support/engines.ts';
import { readBlock, runBlock } from '../support/page-blocks.ts';
import { serveListener } from '../support/served-app.ts';
import { has, type Tool } from '../support/tools.ts';
import { ROOT } from '../support/tracked-files.ts';

const runFile = promisify(execFile);
const SYSTEM_PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
const file = (name: string) => join(ROOT, 'deploy', name);
const read = (name: string) => readFileSync(file(name), 'utf8');

/** Runs a checker of the system; its complaints are the failure. */
const check = (command: string, ...words: string[]) =>
  runFile(command, words, { env: { PATH: SYSTEM_PATH, HOME: temporaryFolder() } });

/** A test whose body is a check. */
function testWith(tools: readonly Tool[], name: string, body: () => Promise<unknown>): void {
  test.runIf(has(...tools))(name, () => expect(body()).resolves.not.toThrow());
}

/** Where each manifest is not what the Kubernetes API publishes: fields that it does not have, values of another type. */
function manifestProblems(manifests: readonly string[]): string[][] {
  const folder = temporaryFolder();
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const files = manifests.map((manifest, number) => {
    const constants = parseAllDocuments(manifest).map((document, index) => {
      const { apiVersion, kind } = document.toJS();
      const module = apiVersion.includes('/') ? apiVersion : `core/${apiVersion}`;
      const type = `import('kubernetes-types/${module}').${kind}`;
      return `export const d${index}: ${type} = ${JSON.stringify(document)};\n`;
    });
    const file = join(folder, `manifest-${number}.ts`);
    writeFileSync(file, constants.join(''));
    return file;
  });
  const program = ts.createProgram(files, { strict: true, noEmit: true, skipLibCheck: true, types: [] });
  const found = ts.getPreEmitDiagnostics(program);
  const told = (text: string | ts.DiagnosticMessageChain) => ts.flattenDiagnosticMessageText(text, ' ');
  return files.map((name) =>
    found.filter(({ file }) => file?.fileName === name).map(({ messageText }) => told(messageText)),
  );
}

describe('deploy/', () => {
  testWith(['nginx', 'openssl'], 'nginx takes nginx.conf', async () => {
    const folder = temporaryFolder();
    makeCertificate('pets.example.com', join(folder, 'privkey.pem'), join(folder, 'fullchain.pem'));
    const site = read('nginx.conf').replaceAll(/\/etc\/ssl\/pets\.example\.com|\/var\/log\/nginx/g, folder);
    writeFileSync(join(folder, 'site.conf'), site);
    writeFileSync(
      join(folder, 'main.conf'),
      `pid ${folder}/pid;\nevents {}\nhttp { access_log off; include site.conf; }\n`,
    );
    await check('nginx', '-t', '-q', '-e', 'stderr', '-p', folder, '-c', join(folder, 'main.conf'));
  });

  testWith(['caddy'], 'Caddy takes Caddyfile', () =>
    check('caddy', 'validate', '--config', file('Caddyfile'), '--adapter', 'caddyfile'),
  );

  testWith(['prometheus'], 'Prometheus takes prometheus.yml and alerts.yml', () =>
    check('promtool', 'check', 'config', file('prometheus.yml')),
  );

  testWith(['systemd'], 'systemd takes the units', async () => {
    const folder = temporaryFolder();
    const units = ['petstore-gateway.service', 'petstore-backup.service', 'petstore-backup.timer'].map((name) => {
      writeFileSync(join(folder, name), read(name).replace('/usr/bin/node', process.execPath));
      return join(folder, name);
    });
    await check('systemd-analyze', 'verify', ...units);
  });

  for (const unit of ['petstore-gateway.service', 'petstore-backup.service']) {
    testWith(['systemd'], `${unit} leaves the process little: an exposure of 1.5 of 10 at most`, () =>
      check('systemd-analyze', 'security', '--offline=true', '--threshold=15', file(unit)),
    );
  }

  test.runIf(has('openssl'))(
    'the commands for Docker put the password on a line of its own, into a file that only its owner reads',
    async () => {
      const [commands = ''] = readBlock('docs/run.md', 'bash compose-start').split(/^docker /m);
      const folder = temporaryFolder();
      writeFileSync(join(folder, '.env'), 'WORKERS=2', { mode: 0o644 }); // as editors leave it, without an end of line
      for (const _time of ['first', 'second']) expect((await runBlock(commands, folder)).code).toBe(0);
      expect(readFileSync(join(folder, '.env'), 'utf8')).toMatch(/^WORKERS=2\nMYSQL_PASSWORD=[0-9a-f]{32}\n$/);
      expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600);
    },
  );

  test('the commands for systemd make the file of settings once: a second time they leave what it says', async () => {
    const folder = temporaryFolder();
    const settings = join(folder, 'petstore-gateway.env');
    const [line = ''] = /^.*\/dev\/null.*$/m.exec(readBlock('docs/run.md', 'bash systemd-install')) ?? [];
    const command = `sudo() { "$@"; }; ${line.replaceAll('/etc/petstore-gateway.env', settings)}`;
    expect((await runBlock(command, folder)).code).toBe(0);
    expect(statSync(settings)).toMatchObject({ mode: 0o100600, size: 0 });
    writeFileSync(settings, 'WORKERS=2\n');
    expect((await runBlock(command, folder)).code).toBe(0);
    expect(readFileSync(settings, 'utf8')).toBe('WORKERS=2\n');
  });

  test('what the pages of operators install has no packages of developers', () => {
    const pages = ['README.md', ...readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))];
    const lines = pages.flatMap(
      (name) =>
        readFileSync(join(ROOT, name === 'README.md' ? '' : 'docs', name), 'utf8').match(
          /^.*npm (?:ci|install)\b.*$/gm,
        ) ?? [],
    );
    expect(lines.filter((line) => /--no-save|start\.js/.test(line) && !line.includes('--omit=dev'))).toEqual([]);
  });

  test('the section on systemd names the Node of the unit, and the memory that it gives', () => {
    const unit = read('petstore-gateway.service');
    const section = read('../docs/run.md')
      .split(/^## /m)
      .find((text) => text.startsWith('systemd\n'));
    expect(section).toContain(`\`${/^ExecStart=(\S+)/m.exec(unit)?.[1]} --version\``);
    expect(section).toContain(`\`${/^MemoryMax=.+/m.exec(unit)?.[0]}\``);
  });

  test("the README's commands for Docker are those that docs/run.md begins with", () => {
    expect(read('../README.md')).toContain(`\n${readBlock('docs/run.md', 'bash compose-start')}\`\`\``);
  });

  test('kubernetes.yaml is what the Kubernetes API takes', () => {
    const manifest = read('kubernetes.yaml');
    const mistakes = [
      ['maxSkew:', 'maxSkews:'],
      ['replicas: 2', 'replicas: two'],
      ['kind: Service', 'kind: Services'],
      ['policy/v1', 'policy/v2'],
    ] as const;
    const wrong = mistakes.map(([word, mistake]) => manifest.replace(word, mistake));
    const [problems, ...problemsOfMistakes] = manifestProblems([manifest, ...wrong]);
    expect(problems).toEqual([]);
    expect(problemsOfMistakes.map((found) => found.length)).toEqual(mistakes.map(() => 1));
  });

  test('the parts of kubernetes.yaml fit together, set what the gateway knows, and leave it time to drain', () => {
    const documents = parseAllDocuments(read('kubernetes.yaml'));
    expect(documents.flatMap((document) => [...document.errors, ...document.warnings])).toEqual([]);
    const [deployment, service, budget] = documents.map((document) => document.toJS());
    const { metadata, spec: pod } = deployment.spec.template;
    const [gateway] = pod.containers;
    const [spread] = pod.topologySpreadConstraints;
    for (const selector of [deployment.spec.selector, spread.labelSelector, budget.spec.selector])
      expect(selector.matchLabels).toEqual(metadata.labels);
    expect(service.spec.selector).toEqual(metadata.labels);
    const commands = readBlock('docs/run.md', 'bash kubernetes-start');
    const { name, key } = gateway.env[0].valueFrom.secretKeyRef;
    expect(commands).toContain(` secret generic ${name} --from-literal=${key}=`);
    expect(commands.split(/\s/).filter((word) => word === gateway.image)).toHaveLength(2);
    expect(commands).toContain(` deployment/${deployment.metadata.name} -- node cli.js keys `);
    expect(budget.spec.maxUnavailable).toBeLessThan(deployment.spec.replicas);
    const settings: { name: string; value?: string }[] = gateway.env;
    expect(settings.filter(({ name }) => !settingNames().includes(name))).toEqual([]);
    const config = readConfig(Object.fromEntries(settings.map(({ name, value }) => [name, value])));
    const sleepSeconds = Number(gateway.lifecycle.preStop.exec.command[1]);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(sleepSeconds + config.shutdownGraceMs / 1000 + 2);
    expect(gateway.livenessProbe.httpGet.path).toBe('/livez');
    expect(gateway.readinessProbe.httpGet.path).toBe('/readyz');
    // The probes ask, and Prometheus scrapes, where ADMIN_PORT serves them; the Service leads to the other port.
    const { adminPort, port } = config;
    const portOf = (name: string) => gateway.ports.find((each: { name: string }) => each.name === name)?.containerPort;
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
      expect(portOf(gateway[probe].httpGet.port)).toBe(adminPort);
    expect(metadata.annotations['prometheus.io/port']).toBe(String(adminPort));
    expect(portOf(service.spec.ports[0].targetPort)).toBe(port);
  });
});

describe("the image's health check", () => {
  const [, command = '[]'] =
    /^HEALTHCHECK .*\n {2}CMD (\[.*\])$/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')) ?? [];
  const [, ...words] = JSON.parse(command) as string[];
  /** Its exit code, and what Node tells of its connections. */
  const ask = (env: Record<string, string>) =>
    runFile(process.execPath, words, { cwd: ROOT, env: { HOST: '0.0.0.0', NODE_DEBUG: 'net', ...env } }).then(
      ({ stderr }) => ({ code: 0, stderr }),
      ({ code, stderr }) => ({ code, stderr }),
    );

  test.each([
    ['ready', 200, {}, 0],
    ['ready, in an environment with a proxy', 200, { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://127.0.0.1:9' }, 0],
    ['not ready', 503, {}, 1],
  ])('a gateway that is %s', async (_, status, env, code) => {
    const asked: (string | undefined)[] = [];
    const server = createServer(({ url }, answer) => {
      asked.push(url);
      answer.writeHead(status).end();
    });
    const { port } = new URL(await serveListener(server));
    expect(await ask({ PORT: ` ${port} `, ...env })).toMatchObject({ code });
    expect(asked).toEqual(['/readyz']);
    await once(server.close(), 'close');
    expect(await ask({ PORT: port, ...env })).toMatchObject({ code: 1 }); // nobody is there
  });

  test('without a value in PORT, it asks where the gateway listens then', async () => {
    const { stderr } = await ask({ PORT: '' });
    expect(stderr).toContain(`:${readConfig({}).port} `);
  });
});
