import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { gatewayEnvironment, withoutSettings } from '../../bench/environment.ts';
import { readConfig, settingNames } from '../../src/gateway/config.ts';
import { ROOT } from '../support/tracked-files.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const settings = settingNames();

/** What every setting has, and nothing that is no setting: `told` names them. */
function expectAll(told: Iterable<string>, others: readonly string[] = []): void {
  expect([...new Set(told)].sort()).toEqual([...settings, ...others].sort());
}

/** Those that docker-compose.yml reads for itself. */
const COMPOSE_ONLY = ['MYSQL_PASSWORD', 'GATEWAY_MEMORY', 'GATEWAY_STOP_GRACE'];
const compose = read('docker-compose.yml');
const { gateway } = parse(compose).services;

test('every setting has its row in the README, and every row there is a setting', () => {
  const [, section = ''] = /^## Configuration$([\s\S]*?)^## /m.exec(read('README.md')) ?? [];
  expectAll([...section.matchAll(/^\| (`[A-Z_` /]+) \|/gm)].flatMap(([, cell = '']) => cell.match(/[A-Z_]+/g) ?? []));
});

test('.env.example names every setting and what docker compose reads, with values that are allowed', () => {
  const lines = [...read('.env.example').matchAll(/^#?([A-Z_]+)=(.*)$/gm)].map(([, name = '', value]) => [name, value]);
  expectAll(
    lines.map(([name]) => name ?? ''),
    COMPOSE_ONLY,
  );
  const without = lines.filter(([name]) => name !== 'DATABASE_URL_FILE'); // there is no such file here
  expect(readConfig(Object.fromEntries(without))).toMatchObject({ hasDatabaseUrl: true });
});

test('docker-compose.yml hands on every setting as it is named, and reads nothing else', () => {
  // Where the container listens is its own affair: the Dockerfile says it, and `ports` leads there.
  const given = Object.keys(gateway.environment);
  expectAll([...given, 'HOST', 'PORT']);
  expect(given).not.toContain('HOST');
  const handedOn = given.filter((name) => name !== 'DATABASE_URL');
  expect(handedOn.filter((name) => gateway.environment[name] !== `\${${name}:-}`)).toEqual([]);
  expect(gateway.ports).toEqual([`127.0.0.1:\${PORT:-4000}:4000`]);
  expect(read('Dockerfile')).toMatch(/^ENV .*HOST=:: PORT=4000$/m);
  const named = [...compose.matchAll(/\$\{([A-Z_]+)/g)].map(([, name = '']) => name);
  expect([...new Set(named)].sort()).toEqual([...handedOn, 'PORT', ...COMPOSE_ONLY].sort());
});

test('docker compose waits longer than the gateway takes to stop', () => {
  const [, seconds = ''] = /:-(\d+)s\}$/.exec(gateway.stop_grace_period) ?? [];
  expect(Number(seconds)).toBeGreaterThanOrEqual(readConfig({}).shutdownGraceMs / 1000 + 2);
});

/** What a part of the Dockerfile copies from the checkout. */
const copiedIn = (part: string) =>
  [...part.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, names = '']) => names.split(' '));

test('the image gets what its Dockerfile copies, and nothing else', () => {
  const copied = copiedIn(read('Dockerfile'));
  const letIn = read('.dockerignore').trimEnd().split('\n');
  expect(letIn.toSorted()).toEqual(['*', ...new Set(copied.map((name) => `!${name}`))].toSorted());
});

test('the benchmark hands on no setting of its own environment or of a .env', () => {
  const all = Object.fromEntries(settings.map((name) => [name, '1']));
  expect(withoutSettings({ ...all, NODE_OPTIONS: '--no-opt', HOME: '/home' })).toEqual({ HOME: '/home' });
  expect(settings.filter((name) => gatewayEnvironment({ PORT: '80' })[name] !== '')).toEqual(['PORT']);
});

test("whatever the checkout's modes are, the container's user may read what is copied", () => {
  const [image = ''] = read('Dockerfile')
    .split(/^FROM /m)
    .slice(-1);
  const [, readable = ''] = /^RUN chmod -R a\+rX (.+)$/m.exec(image) ?? [];
  expect(readable.split(' ').sort()).toEqual([...new Set(copiedIn(image).map((path) => path.split('/')[0]))].sort());
});
