import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { maskCredentials } from '../../../src/gateway/masking.ts';
import { parseMysqlAddress } from '../../../src/lib/mysql-pool/mysql-address.ts';
import { MysqlPoolError } from '../../../src/lib/mysql-pool/pool-error.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { temporaryFolder } from '../../support/engines.ts';
import { has } from '../../support/tools.ts';

describe('user and password', () => {
  test('come back exactly when they are percent-encoded, whatever characters they have', () => {
    const secret = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => text.isWellFormed());
    fc.assert(
      fc.property(secret, secret, secret, (user, password, database) => {
        const [u, p, d] = [user, password, database].map(encodeURIComponent);
        expect(parseMysqlAddress(`mysql://${u}:${p}@db:3306/${d}`)).toMatchObject({ user, password, database });
      }),
    );
  });

  it.each(['p@ss', 'a:b', 'a/b', 'a@b:c/d', '@', ':', 'x@y@z', 'x@y/z?a=b', 'a?b', 'a#b', 'a&b=c', ' ', '\'"\\'])(
    'a password %j that nobody encoded still works',
    (password) => expect(parseMysqlAddress(`mysql://me:${password}@db/shop`)).toMatchObject({ user: 'me', password }),
  );

  it.each([
    ['mysql://db/shop', 'root', ''],
    ['mysql://me@db/shop', 'me', ''],
    ['mysql://me:@db/shop', 'me', ''],
  ])('%s is user %j with password %j', (url, user, password) =>
    expect(parseMysqlAddress(url)).toMatchObject({ user, password, database: 'shop' }),
  );
});

describe('hosts', () => {
  it.each([
    ['db', 'db 3306'],
    ['127.0.0.1:3307', '127.0.0.1 3307'],
    ['[::1]', '::1 3306'],
    ['[2001:db8::7]:65535', '2001:db8::7 65535'],
    ['a.example:1,b-2.example', 'a.example 1, b-2.example 3306'],
    ['a,b:2,[::1]:3', 'a 3306, b 2, ::1 3'],
  ])('%s is read', (given, expected) => {
    const { hosts } = parseMysqlAddress(`mysql://u:p@${given}/d`);
    expect(hosts.map(({ host, port }) => `${host} ${port}`).join(', ')).toBe(expected);
  });
});

/** The rows need the certificates, so that skipping them alone would not do. */
const describeTrust = () => {
  const folder = temporaryFolder();
  const file = (name: string) => join(folder, name);
  const [ca, key, publicKey, empty] = [file('ca.pem'), file('key.pem'), file('public.pem'), file('empty.pem')];
  makeCertificate('db', key, ca);
  execFileSync('openssl', ['rsa', '-in', key, '-pubout', '-out', publicKey], { stdio: 'ignore' });
  writeFileSync(empty, '');
  const text = readFileSync(ca, 'utf8');
  mkdirSync(file('petstore@1.service'));
  const at = file('petstore@1.service/ca.pem'); // as systemd names its credentials
  writeFileSync(at, text);
  const trustOf = (query: string) => parseMysqlAddress(`mysql://u:p@db/d${query}`).readTrust();

  it.each([
    ['', undefined],
    ['?ssl=false', undefined],
    ['?ssl=true', { verifyIdentity: true }],
    ['?ssl=skip-verify', { rejectUnauthorized: false }],
    [`?ssl=${encodeURIComponent(ca)}`, { ca: text }],
    [`?ssl=${ca}&ssl-cert=${ca}&ssl-key=${key}`, { ca: text, cert: text, key: readFileSync(key, 'utf8') }],
    [`?ssl=${at}`, { ca: text }],
    [`?ssl-key=${key}&ssl-cert=${at}&ssl=${at}`, { ca: text, cert: text, key: readFileSync(key, 'utf8') }],
    [`?ssl=${encodeURIComponent('{"minVersion":"TLSv1.3"}')}`, { minVersion: 'TLSv1.3' }],
  ])('%.30s is understood', (query, ssl) => expect(trustOf(query)).toEqual(ssl === undefined ? {} : { ssl }));

  it.each([
    ['', 'root', ''],
    ['u:p@ss?w@', 'u', 'p@ss?w'],
  ])('an @ in a path is none of user, password and host: mysql://%sdb:3307', (credentials, user, password) => {
    const hosts = [{ host: 'db', port: 3307 }];
    const address = `mysql://${credentials}db:3307/shop?ssl=${at}`;
    expect(parseMysqlAddress(address)).toMatchObject({ user, password, hosts, database: 'shop' });
    // The log shows the address by a reader of its own, which must find the same parts.
    expect(maskCredentials(address)).toBe(address.replace(password || /$^/, '***'));
  });

  it.each([
    ['?get-server-public-key=true', undefined],
    ['?get-server-public-key=false', ['caching_sha2_password', 'sha256_password']],
    [`?server-public-key-path=${publicKey}`, ['caching_sha2_password', 'sha256_password']],
  ])('%.30s: ways to prove oneself that are ours', (query, plugins) => {
    const { authPlugins } = trustOf(query);
    expect(authPlugins && Object.keys(authPlugins)).toEqual(plugins);
  });

  it.each([
    ['a file that is not there', '?ssl=/no/such/file', '/no/such/file'],
    ['an empty file: it would mean every authority that there is', `?ssl=${empty}`, 'of 1 to 1048576 bytes'],
    ['a file without end', '?ssl=/dev/zero', 'of 1 to 1048576 bytes'],
    ['a folder', `?ssl=${folder}`, folder],
    ['a certificate that is none', `?ssl=${key}`, 'cannot be used'],
    ['a key that is none', `?ssl=true&ssl-cert=${ca}&ssl-key=${ca}`, 'cannot be used'],
    ['a public key that is none', `?server-public-key-path=${import.meta.filename}`, 'cannot be used'],
    ['options that are no JSON', '?ssl={secret', 'ssl={…} cannot be used'],
    ['a key where TLS needs none', `?ssl=true&server-public-key-path=${publicKey}`, 'without ssl'],
    ['a certificate that nobody is shown', `?ssl-cert=${ca}`, 'with ssl'],
    ['a word that is none', '?get-server-public-key=maybe', 'true or false'],
  ])('%s is refused', (_what, query, why) => {
    expect(() => trustOf(query)).toThrow(MysqlPoolError);
    expect(() => trustOf(query)).toThrow(why);
    expect(() => trustOf(query)).not.toThrow('secret');
  });

  test('a file is read again, and what it says is the same object while it is the same', () => {
    const renewed = file('renewed.pem');
    writeFileSync(renewed, text);
    const { readTrust } = parseMysqlAddress(`mysql://u:p@db/d?ssl=${renewed}`);
    const first = readTrust();
    expect(readTrust()).toBe(first);
    writeFileSync(renewed, `${text}\n`);
    expect(readTrust()).toEqual({ ssl: { ca: `${text}\n` } });
    writeFileSync(renewed, text.slice(0, 200));
    expect(readTrust).toThrow(
      expect.objectContaining({ code: 'POOL_TRUST', message: expect.stringContaining(renewed) }),
    );
    writeFileSync(renewed, text);
    expect(readTrust()).toEqual(first);
  });
};
if (has('openssl')) describe('trust', describeTrust);

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
  ])('with %s is an error of one line without the password', (_what, url) => {
    const parse = () => parseMysqlAddress(url, 'DATABASE_URL');
    expect(parse).toThrow(MysqlPoolError);
    expect(parse).toThrow(/^DATABASE_URL[^\n]+$/);
    expect(parse).not.toThrow(SECRET);
  });

  test('is never anything but an error of the pool', () => {
    const url = fc.string({ unit: fc.constantFrom(...'abc:/@?#%,[]{}=0123456789 ') }).map((rest) => `mysql://${rest}`);
    fc.assert(
      fc.property(url, (address) => {
        try {
          parseMysqlAddress(address);
        } catch (error) {
          expect(error).toBeInstanceOf(MysqlPoolError);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
