import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { settingNames } from '../../src/gateway/config.ts';
import { loadDotEnv, unknownNames } from '../../src/gateway/dot-env.ts';
import { temporaryFolder } from '../support/engines.ts';

/** Loads a `.env` of this text into an environment, which it gives. */
function loaded(text: string, environment: NodeJS.Dict<string>): NodeJS.Dict<string> {
  const before = process.cwd();
  const folder = temporaryFolder();
  writeFileSync(join(folder, '.env'), text);
  process.chdir(folder);
  try {
    loadDotEnv(environment);
    return environment;
  } finally {
    process.chdir(before);
  }
}

test.each([
  ['is not set', {}, '8081'],
  ['is set', { PORT: '9000' }, '9000'],
  ['is set to nothing, which means the default', { PORT: '' }, ''],
])('a variable that %s', (_what, environment, port) => {
  expect(loaded('PORT=8081\n', { ...environment })).toEqual({ PORT: port });
});

describe('names in .env', () => {
  test.each([
    ['PROT', 'PORT'],
    ['Port', 'PORT'],
    ['PORTS', 'PORT'],
    ['HOTS', 'HOST'],
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE-URL', 'DATABASE_URL'],
    ['DATABASEURL', 'DATABASE_URL'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['WORKER', 'WORKERS'],
    ['CORS_ORIGIN', 'CORS_ORIGINS'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['DATABASE_URLFILE', 'DATABASE_URL_FILE'],
    ['GRAPQL', 'GRAPHIQL'],
  ])('%s was probably meant to be %s', (name, meant) => {
    expect(unknownNames([name], '.env')).toEqual([{ place: '.env', name, meant }]);
  });

  test.each([
    'MYSQL_PASSWORD',
    'GATEWAY_STOP_GRACE',
    'TZ',
    'NODE_OPTIONS',
    'PATH',
    'COMPOSE_FILE',
    'X',
    'A'.repeat(100_000),
  ])('%.20s is of another program', (name) => {
    expect(unknownNames([name], '.env')).toEqual([{ place: '.env', name, meant: undefined }]);
  });

  test('every setting is known', () => {
    expect(unknownNames(settingNames(), '.env')).toEqual([]);
  });
});
