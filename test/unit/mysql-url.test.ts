import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { ConfigError } from '../../src/config.ts';
import { parseMysqlUrl } from '../../src/database/mysql/mysql-url.ts';
import { temporaryFolder } from '../support/engines.ts';

describe('user and password', () => {
  test('come back exactly when they are percent-encoded, whatever characters they have', () => {
    const secret = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => text.isWellFormed());
    fc.assert(
      fc.property(secret, secret, secret, (user, password, database) => {
        const [u, p, d] = [user, password, database].map(encodeURIComponent);
        expect(parseMysqlUrl(`mysql://${u}:${p}@db:3306/${d}`)).toMatchObject({ user, password, database });
      }),
    );
  });

  it.each(['p@ss', 'a:b', 'a/b', 'a@b:c/d', '@', ':', 'x@y@z', 'a?b', 'a#b', 'a&b=c', ' ', '\'"\\'])(
    'a password %j that nobody encoded still works',
    (password) => expect(parseMysqlUrl(`mysql://me:${password}@db/shop`)).toMatchObject({ user: 'me', password }),
  );

  it.each([
    ['mysql://db/shop', 'root', ''],
    ['mysql://me@db/shop', 'me', ''],
    ['mysql://me:@db/shop', 'me', ''],
  ])('%s is user %j with password %j', (url, user, password) =>
    expect(parseMysqlUrl(url)).toMatchObject({ user, password, database: 'shop' }),
  );
});

describe('hosts', () => {
  it.each([
    ['db', [{ host: 'db', port: 3306 }]],
    ['127.0.0.1:3307', [{ host: '127.0.0.1', port: 3307 }]],
    ['[::1]', [{ host: '::1', port: 3306 }]],
    ['[2001:db8::7]:65535', [{ host: '2001:db8::7', port: 65_535 }]],
    [
      'a.example:1,b-2.example',
      [
        { host: 'a.example', port: 1 },
        { host: 'b-2.example', port: 3306 },
      ],
    ],
    [
      'a,b:2,[::1]:3',
      [
        { host: 'a', port: 3306 },
        { host: 'b', port: 2 },
        { host: '::1', port: 3 },
      ],
    ],
  ])('%s is read', (hosts, expected) => expect(parseMysqlUrl(`mysql://u:p@${hosts}/d`).hosts).toEqual(expected));
});

describe('ssl', () => {
  const folder = temporaryFolder();
  const caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, 'the certificate');

  it.each([
    ['', undefined],
    ['?ssl=false', undefined],
    ['?ssl=true', { rejectUnauthorized: true, verifyIdentity: true }],
    ['?ssl=skip-verify', { rejectUnauthorized: false }],
    [`?ssl=${encodeURIComponent(caFile)}`, { rejectUnauthorized: true, ca: 'the certificate' }],
    [`?ssl=${encodeURIComponent('{"minVersion":"TLSv1.3"}')}`, { minVersion: 'TLSv1.3' }],
  ])('%.30s is understood', (search, ssl) => expect(parseMysqlUrl(`mysql://u:p@db/d${search}`).ssl).toEqual(ssl));
});

describe('a wrong address', () => {
  const SECRET = 'hunter2-secret';
  it.each([
    ['no database', `mysql://u:${SECRET}@db`],
    ['an empty database', `mysql://u:${SECRET}@db/`],
    ['no host', `mysql://u:${SECRET}@/shop`],
    ['a path too long', `mysql://u:${SECRET}@db/shop/more`],
    ['a port that is none', `mysql://u:${SECRET}@db:99999/shop`],
    ['port 0', `mysql://u:${SECRET}@db:0/shop`],
    ['an empty second host', `mysql://u:${SECRET}@db,/shop`],
    ['a host with a space', `mysql://u:${SECRET}@d b/shop`],
    ['an unknown option', `mysql://u:${SECRET}@db/shop?charset=latin1`],
    ['a TLS file that is not there', `mysql://u:${SECRET}@db/shop?ssl=/no/such/file`],
    ['TLS options that are no JSON', `mysql://u:${SECRET}@db/shop?ssl={`],
    ['a percent sign that encodes nothing', `mysql://u:${SECRET}%zz@db/shop`],
    ['a fragment', `mysql://u:${SECRET}@db/shop#part`],
  ])('with %s is a ConfigError of one line without the password', (_what, url) => {
    const parse = () => parseMysqlUrl(url);
    expect(parse).toThrow(ConfigError);
    expect(parse).toThrow(/^DATABASE_URL[^\n]+$/);
    expect(parse).not.toThrow(SECRET);
  });

  test('is never anything but a ConfigError', () => {
    const url = fc.string({ unit: fc.constantFrom(...'abc:/@?#%,[]{}=0123456789 ') }).map((rest) => `mysql://${rest}`);
    fc.assert(
      fc.property(url, (address) => {
        try {
          parseMysqlUrl(address);
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
