import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { type Config, ConfigError, readConfig } from '../../src/gateway/config.ts';
import { maskCredentials } from '../../src/gateway/masking.ts';
import { temporaryFolder } from '../support/engines.ts';

type Row = readonly [variable: string, value: string, field: keyof Config, expected: unknown];

const DEFAULTS: Config = {
  host: '127.0.0.1',
  port: 4000,
  adminPort: undefined,
  databaseUrl: 'sqlite:data/petstore.sqlite',
  databaseUrlFile: undefined,
  hasDatabaseUrl: false,
  inMemory: false,
  databasePoolMax: 10,
  publicUrl: undefined,
  publicPath: '',
  trustedProxies: undefined,
  corsOrigins: '*',
  bodyLimitBytes: 65_536,
  rateLimit: undefined,
  logLevel: 'info',
  migrateOnStart: true,
  graphiql: true,
  sampleData: true,
  workers: 1,
  shutdownGraceMs: 10_000,
};

/** A list of networks, as Node describes its rules. */
const networks = (...rules: string[]) => expect.objectContaining({ rules });

const GOOD: readonly Row[] = [
  ['HOST', '0.0.0.0', 'host', '0.0.0.0'],
  ['HOST', '::1', 'host', '::1'],
  ['PORT', '0', 'port', 0],
  ['PORT', ' 8080 ', 'port', 8080],
  ['PORT', '65535', 'port', 65_535],
  ['ADMIN_PORT', '4001', 'adminPort', 4001],
  ['DATABASE_URL', 'sqlite::memory:', 'databaseUrl', 'sqlite::memory:'],
  ['DATABASE_URL', 'sqlite:/var/pets.db', 'databaseUrl', 'sqlite:/var/pets.db'],
  ['DATABASE_URL', 'mysql://u:p@h:1/d', 'databaseUrl', 'mysql://u:p@h:1/d'],
  ['DATABASE_URL', 'sqlite:x', 'hasDatabaseUrl', true],
  ['DATABASE_POOL_MAX', '1', 'databasePoolMax', 1],
  ['PUBLIC_URL', 'https://pets.example.com/', 'publicUrl', 'https://pets.example.com'],
  ['PUBLIC_URL', 'https://example.com/shop//', 'publicUrl', 'https://example.com/shop'],
  ['PUBLIC_URL', 'https://example.com:8443/a/shop//', 'publicPath', '/a/shop'],
  ['PUBLIC_URL', 'https://pets.example.com/', 'publicPath', ''],
  ['TRUSTED_PROXIES', '127.0.0.1', 'trustedProxies', networks('Subnet: IPv4 127.0.0.1/32')],
  [
    'TRUSTED_PROXIES',
    '10.0.0.0/8, ::1/128',
    'trustedProxies',
    networks('Subnet: IPv6 ::1/128', 'Subnet: IPv4 10.0.0.0/8'),
  ],
  ['TRUSTED_PROXIES', '0.0.0.0/0,::/0', 'trustedProxies', networks('Subnet: IPv6 ::/0', 'Subnet: IPv4 0.0.0.0/0')],
  ['TRUSTED_PROXIES', '::ffff:10.0.0.0/104', 'trustedProxies', networks('Subnet: IPv6 ::ffff:10.0.0.0/104')],
  ['CORS_ORIGINS', '*', 'corsOrigins', '*'],
  ['CORS_ORIGINS', 'https://a.example', 'corsOrigins', ['https://a.example']],
  ['CORS_ORIGINS', 'https://a.example, http://b:81', 'corsOrigins', ['https://a.example', 'http://b:81']],
  ['CORS_ORIGINS', 'capacitor://localhost,ionic://l:80', 'corsOrigins', ['capacitor://localhost', 'ionic://l:80']],
  ['CORS_ORIGINS', 'chrome-extension://abc', 'corsOrigins', ['chrome-extension://abc']],
  ['BODY_LIMIT', '1024', 'bodyLimitBytes', 1024],
  ['BODY_LIMIT', '4194304', 'bodyLimitBytes', 4_194_304],
  ['RATE_LIMIT', 'off', 'rateLimit', undefined],
  ['RATE_LIMIT', '600/1m', 'rateLimit', { requests: 600, seconds: 60 }],
  ['RATE_LIMIT', '1/24h', 'rateLimit', { requests: 1, seconds: 86_400 }],
  ['WORKERS', '4', 'workers', 4],
  ['WORKERS', 'auto', 'workers', availableParallelism()],
  ['LOG_LEVEL', 'silent', 'logLevel', 'silent'],
  ['LOG_LEVEL', 'trace', 'logLevel', 'trace'],
  ['MIGRATE_ON_START', 'false', 'migrateOnStart', false],
  ['GRAPHIQL', 'false', 'graphiql', false],
  ['SAMPLE_DATA', 'false', 'sampleData', false],
  ['SHUTDOWN_GRACE_MS', '0', 'shutdownGraceMs', 0],
];

/** Values that a variable must not have, and what the refusal then says that it may be. */
const WRONG = (
  [
    ['PORT', '0 to 65535', '65536 -1 80.5 1e3 0x50 http'],
    ['DATABASE_URL', 'mysql://', 'postgres://h/d mysql://'],
    ['DATABASE_URL', 'sqlite:PATH', 'sqlite: petstore.sqlite'],
    ['DATABASE_POOL_MAX', '1 to', '0 ten'],
    ['PUBLIC_URL', 'http://', 'pets.example.com ftp://pets.example.com'],
    [
      'PUBLIC_URL',
      'without credentials',
      'https://pets.example.com/?a=1 https://pets.example.com/#top https://a/? https://a/#',
    ],
    ['TRUSTED_PROXIES', '10.0.0.0/8', '10.0.0.0/33 ::/129 10.0.0.0/-1 10.0.0.0/8/8 10.0.0.0/'],
    ['TRUSTED_PROXIES', 'addresses and networks', '10.0.0 127.0.0.1, fe80::1%eth0 proxy.example'],
    ['TRUSTED_PROXIES', 'with commas', '*'],
    ['CORS_ORIGINS', 'https://example.com', 'https://a.example/ a.example https://a.example,* https://*.example null'],
    ['CORS_ORIGINS', 'https://example.com', 'HTTPS://A.EXAMPLE https://a.example:443'],
    ['CORS_ORIGINS', 'https://example.com', 'capacitor://localhost/ capacitor://localhost/app capacitor://localhost?a'],
    ['CORS_ORIGINS', 'https://example.com', 'capacitor://* capacitor:// capacitor:localhost'],
    ['BODY_LIMIT', '1024 to', '1023 4194305 64kb'],
    ['RATE_LIMIT', 'at most 24h', '1/86401s'],
    ['RATE_LIMIT', 'such as 600/1m', '0/1m'],
    ['RATE_LIMIT', 's, m or h', '600/1d'],
    ['RATE_LIMIT', 'requests per time', '600'],
    ['WORKERS', 'auto', '0 all 1.5'],
    ['ADMIN_PORT', '1 to 65535', '0 65536'],
    ['ADMIN_PORT', 'another port than PORT', '4000'],
    ['LOG_LEVEL', 'info', 'verbose INFO'],
    ['MIGRATE_ON_START', 'true or false', 'yes'],
    ['GRAPHIQL', 'true or false', '1'],
    ['SAMPLE_DATA', 'true or false', 'no'],
    ['SHUTDOWN_GRACE_MS', '0 to', '-5 10s'],
  ] as const
).flatMap(([variable, allowed, values]) => values.split(' ').map((value) => ({ variable, value, allowed })));

describe('readConfig', () => {
  test('of an empty environment is the documented defaults, frozen', () => {
    expect(readConfig({})).toEqual(DEFAULTS);
    expect(readConfig({})).toSatisfy(Object.isFrozen);
  });

  it.each(GOOD)('%s=%s is taken as %s', (variable, value, field, expected) => {
    expect(readConfig({ [variable]: value })[field]).toEqual(expected);
  });

  it.each([...new Set(GOOD.map(([variable]) => variable))])('an empty %s counts as absent', (variable) => {
    expect(readConfig({ [variable]: '' })).toEqual(DEFAULTS);
    expect(readConfig({ [variable]: '  ' })).toEqual(DEFAULTS);
  });

  it.each(WRONG)(
    '$variable=$value is refused in one line with name, value and what is allowed',
    ({ variable, value, allowed }) => {
      const read = () => readConfig({ [variable]: value });
      expect(read).toThrow(ConfigError);
      expect(read).toThrow(`${variable}=${JSON.stringify(value)} `);
      expect(read).toThrow(allowed);
      expect(read).toThrow(/^[^\n]+$/);
    },
  );

  it.each([
    ['DATABASE_URL', 'postgres://me:hunter2@db/shop'],
    ['DATABASE_URL', 'mysql:/me:hunter2@db/shop'],
    ['DATABASE_URL', 'mysql:me:hunter2@db/shop'],
    ['DATABASE_URL', 'MYSQL://me:hunter2@db/shop'],
    ['DATABASE_URL', 'me:hunter2@db/shop'],
    ['DATABASE_URL', 'mariadb://me:p@hunter2@db/shop'],
    ['DATABASE_URL', 'mariadb://me:p/hunter2:x@db/shop'],
    ['DATABASE_URL', 'jdbc:mysql://me:hunter2@db/shop'],
    ['DATABASE_URL', 'jdbc:mysql://db/shop?user=me&password=hunter2'],
    ['DATABASE_URL', '"mysql://me:hunter2@db/shop"'],
    ['PUBLIC_URL', 'https://me:hunter2@pets.example.com'],
    ['PUBLIC_URL', 'https://hunter2@pets.example.com'],
    ['CORS_ORIGINS', 'https://me:hunter2@pets.example.com'],
    ['CORS_ORIGINS', 'capacitor://me:hunter2@localhost'],
  ])('%s=%s is refused without the password', (variable, value) => {
    expect(() => readConfig({ [variable]: value })).toThrow(ConfigError);
    expect(() => readConfig({ [variable]: value })).not.toThrow('hunter2');
  });
});

describe('DATABASE_URL_FILE', () => {
  const fileOf = (text: string): string => {
    const file = join(temporaryFolder(), 'database-url');
    writeFileSync(file, text);
    return file;
  };

  it.each(['mysql://u:p@h/d', 'mysql://u:p@h/d\n', ' mysql://u:p@h/d\r\n'])('%j is the DATABASE_URL', (text) => {
    const config = readConfig({ DATABASE_URL_FILE: fileOf(text), DATABASE_URL: '' });
    expect(config).toMatchObject({ databaseUrl: 'mysql://u:p@h/d', hasDatabaseUrl: true });
  });

  it.each([
    ['without a file', { DATABASE_URL_FILE: '/is/not/there' }, 'ENOENT'],
    ['with an empty file', { DATABASE_URL_FILE: fileOf('\n') }, 'it is empty'],
    ['with a password alone', { DATABASE_URL_FILE: fileOf('secret') }, 'nothing else'],
    ['with two addresses', { DATABASE_URL_FILE: fileOf('mysql://u:secret@h/d\nmysql://u:secret@h/d') }, 'nothing else'],
    [
      'beside a DATABASE_URL',
      { DATABASE_URL_FILE: fileOf('sqlite:a'), DATABASE_URL: 'sqlite:b' },
      'no DATABASE_URL beside',
    ],
  ])('%s it is refused by name', (_what, environment, why) => {
    expect(() => readConfig(environment)).toThrow(ConfigError);
    expect(() => readConfig(environment)).toThrow(/^DATABASE_URL_FILE="[^"]+" is not allowed: a file that holds/);
    expect(() => readConfig(environment)).toThrow(why);
    expect(() => readConfig(environment)).not.toThrow('secret'); // what the file says may be one
  });
});

const LONG_HOSTS = Array.from({ length: 20 }, (_, n) => `db-${n}.petstore.example:3306`).join();

it.each([
  ['mysql://me:secret@db:3306/shop', 'mysql://me:***@db:3306/shop'],
  ['mysql://me:s@e:c/ret@db/shop', 'mysql://me:***@db/shop'],
  ['mysql://me@db/shop', 'mysql://me@db/shop'],
  ['mysql://me@a:3306,b:3306/shop?ssl=true', 'mysql://me@a:3306,b:3306/shop?ssl=true'],
  ['mysql://me:@db/shop', 'mysql://me:***@db/shop'],
  ['mysql://me%3Asecret@db/shop', 'mysql:***@db/shop'],
  ['mysql://me@db/shop?password=secret', 'mysql://me@db/shop?password=***'],
  ['mysql://me@db/shop?ssl={"key":"secret"}&x=1', 'mysql://me@db/shop?ssl=***&x=1'],
  ['mysql://me@db/shop?ssl=%7B%22key%22:%22secret%22}', 'mysql://me@db/shop?ssl=***'],
  ['mysql://me@db/shop?ssl=/etc/ca.pem', 'mysql://me@db/shop?ssl=/etc/ca.pem'],
  ['https://token@db/shop', 'https:***@db/shop'],
  ['mysql://db:3306/shop', 'mysql://db:3306/shop'],
  // A path of the options may have an @; a password may look like options.
  ['mysql://me:secret@db:1/shop?ssl=/run/petstore@1/ca.pem', 'mysql://me:***@db:1/shop?ssl=/run/petstore@1/ca.pem'],
  ['mysql://me:s@/?x=ret@db/shop?server-public-key=/a@b/c.pem', 'mysql://me:***@db/shop?server-public-key=/a@b/c.pem'],
  ['mysql://me@db/shop?ssl=/run/petstore@1/ca.pem', 'mysql://me@db/shop?ssl=/run/petstore@1/ca.pem'],
  ['mysql://db:1/shop?ssl=/run/petstore@1/ca.pem', 'mysql://db:1/shop?ssl=/run/petstore@1/ca.pem'],
  ['mysql://me:s?ssl=ecret@db/shop', 'mysql://me:***@db/shop'],
  // Each host has one way to be read: with two, these take as long as the universe.
  [`mysql://me@${LONG_HOSTS}/shop`, `mysql://me@${LONG_HOSTS}/shop`],
  [`mysql://me:secret@${LONG_HOSTS}/shop#`, `mysql://me:***@${LONG_HOSTS}/shop#`],
  ['mysql://me:s/e?ssl=cret@db/shop', 'mysql://me:***@db/shop'],
  ['sqlite:data/petstore.sqlite', 'sqlite:data/petstore.sqlite'],
])('the address %s is shown as %s', (address, shown) => {
  expect(maskCredentials(address)).toBe(shown);
});
