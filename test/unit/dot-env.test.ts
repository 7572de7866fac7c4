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
  const MEANT = {
    PORT: ['PROT', 'Port', 'PORTS'],
    HOST: ['HOTS'],
    DATABASE_URL: ['DATABSE_URL', 'DATABASE-URL', 'DATABASEURL', 'DATABASE_URI'],
    DATABASE_URL_FILE: ['DATABASE_URLFILE'],
    LOG_LEVEL: ['LOGLEVEL'],
    WORKERS: ['WORKER'],
    CORS_ORIGINS: ['CORS_ORIGIN'],
    GRAPHIQL: ['GRAPQL'],
  };
  test.each(Object.entries(MEANT).flatMap(([meant, names]) => names.map((name) => [name, meant])))(
    '%s was probably meant to be %s',
    (name, meant) => {
      expect(unknownNames([name], '.env')).toEqual([{ place: '.env', name, meant }]);
    },
  );

  test.each([
    ...'MYSQL_PASSWORD GATEWAY_STOP_GRACE TZ NODE_OPTIONS PATH COMPOSE_FILE X'.split(' '),
    'A'.repeat(100_000),
  ])('%.20s is of another program', (name) => {
    expect(unknownNames([name], '.env')).toEqual([{ place: '.env', name, meant: undefined }]);
  });

  test('every setting is known', () => {
    expect(unknownNames(settingNames(), '.env')).toEqual([]);
  });
});
