import { constants, createPublicKey, privateDecrypt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { deadlineIn } from '../../../src/lib/deadline/deadline.ts';
import { parseMysqlAddress } from '../../../src/lib/mysql-pool/mysql-address.ts';
import { createConnection, queryRows } from '../../../src/lib/mysql-pool/mysql-connection.ts';
import { openSession } from '../../../src/lib/mysql-pool/mysql-session.ts';
import { createRoundTrip } from '../../../src/lib/mysql-pool/round-trip.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { temporaryFolder } from '../../support/engines.ts';
import { failure, greeting, startImpostor, switchTo, type Talk } from '../../support/impostor.ts';
import { has } from '../../support/tools.ts';
import { LIMITS, TIMES } from './pool-settings.ts';

// Somebody answers in the database's place: another program at its port, or whoever has the network between.

const PASSWORD = 'S3cret-and-long';
const OK = [0, 0, 0, 2, 0, 0, 0];
const folder = temporaryFolder();
const file = (name: string) => join(folder, name);
const hasKeys = has('openssl');
for (const who of hasKeys ? ['server', 'thief'] : []) {
  makeCertificate('db', file(`${who}.key`), file(`${who}.pem`));
  const publicKey = createPublicKey(readFileSync(file(`${who}.key`)));
  writeFileSync(file(`${who}.pub`), publicKey.export({ type: 'spki', format: 'pem' }));
}

/** What a script hears of us when we connect with these options, and how that ends for us. */
async function meet(options: string, script: (talk: Talk) => Promise<unknown>, host = 'db') {
  const { port, allHeard } = await startImpostor(script);
  const address = parseMysqlAddress(`mysql://app:${PASSWORD}@127.0.0.1:${port}/petstore${options}`);
  const connection = createConnection(address, { host, address: '127.0.0.1', port }, TIMES.connectionEndMs);
  const outcome = await new Promise<string>((resolve) => {
    connection.driver.connect((error) => resolve(error === null ? 'welcome' : error.message));
  });
  return { connection, outcome, allHeard, end: () => connection.destroy(new Error('the test is over')) };
}

/** The password, when somebody who has this private key can read it in what was sent. */
function decrypt(sent: Buffer | undefined, who: string): string | undefined {
  if (sent?.length !== 256) return undefined;
  try {
    const key = { key: readFileSync(file(`${who}.key`)), padding: constants.RSA_PKCS1_OAEP_PADDING };
    const mixed = privateDecrypt(key, sent);
    return Buffer.from(mixed.map((byte) => byte ^ 'n'.charCodeAt(0))).toString(); // with the nonce
  } catch {
    return undefined;
  }
}

/** Asks for the password, as a server does that does not know the account's hash by heart, and offers a key for it. */
async function askForPassword({ say, hear }: Talk, plugin: string, who: string): Promise<Buffer | undefined> {
  say(0, greeting(plugin));
  await hear();
  say(2, switchTo(plugin));
  let answer = await hear();
  if (plugin === 'caching_sha2_password') {
    say(4, [1, 4]);
    answer = await hear();
  }
  if (answer?.length !== 1) return answer;
  say(plugin === 'caching_sha2_password' ? 6 : 4, [1, ...readFileSync(file(`${who}.pub`))]);
  return hear();
}

describe.runIf(hasKeys).each(['caching_sha2_password', 'sha256_password'])('without TLS, %s', (plugin) => {
  const meetWith = async (options: string, who: string) => {
    let sent: Buffer | undefined;
    const met = await meet(options, async (talk) => {
      sent = await askForPassword(talk, plugin, who);
      talk.socket.destroy();
    });
    met.end();
    return { ...met, sent };
  };

  test('as MySQL is: whoever answers learns the password, which is why the others are there', async () => {
    expect(decrypt((await meetWith('', 'thief')).sent, 'thief')).toBe(`${PASSWORD}\0`);
  });

  test('server-public-key-path: only who has the private key reads it', async () => {
    const { sent, allHeard } = await meetWith(`?server-public-key-path=${file('server.pub')}`, 'thief');
    expect(sent).toHaveLength(256);
    expect(decrypt(sent, 'thief')).toBeUndefined();
    expect(decrypt(sent, 'server')).toBe(`${PASSWORD}\0`);
    expect(allHeard().includes(PASSWORD)).toBe(false);
  });

  test('get-server-public-key=false: no key is taken, nothing is sent', async () => {
    const { sent, outcome, allHeard } = await meetWith('?get-server-public-key=false', 'thief');
    expect(sent).toBeUndefined();
    expect(outcome).toContain('server-public-key-path');
    expect(allHeard().includes(PASSWORD)).toBe(false);
  });
});

/** Welcomes whoever comes, as a server without a password. */
async function welcome({ say, hear }: Talk): Promise<void> {
  say(0, greeting('mysql_native_password'));
  await hear();
  say(2, OK);
}

test.each([0, 2])('an answer that begins with packet %i is no answer, and the connection ends', async (first) => {
  vi.spyOn(console, 'error').mockImplementation(() => {}); // mysql2 tells there of packets out of order
  const { connection, outcome } = await meet('', async (talk) => {
    await welcome(talk);
    await talk.hear();
    talk.say(first, OK);
    await talk.hear();
  });
  expect(outcome).toBe('welcome');
  const asked = connection.exchange(deadlineIn(5000), () => queryRows(connection, 'SELECT 1'));
  await expect(asked).rejects.toMatchObject({ code: 'POOL_NOT_UNDERSTOOD' });
  expect(connection.isOpen()).toBe(false);
  vi.restoreAllMocks();
});

test('a server that does not let the session be set up is left', async () => {
  const left = Promise.withResolvers<unknown>();
  const { port } = await startImpostor(async (talk) => {
    await welcome(talk);
    await talk.hear(); // SET
    talk.say(1, OK);
    await talk.hear(); // SHOW
    talk.say(1, failure(1142, '42000', 'not allowed'));
    left.resolve(await talk.hear());
  });
  const target = { host: 'db', address: '127.0.0.1', port };
  const address = parseMysqlAddress(`mysql://app:${PASSWORD}@127.0.0.1:${port}/petstore`);
  await expect(openSession({ address, limits: LIMITS, times: TIMES }, target, createRoundTrip())).rejects.toMatchObject(
    { errno: 1142, fatal: true },
  );
  expect(await left.promise).toBeUndefined();
});

describe('whoever answers gets no more than a proof', () => {
  test.each(['mysql_clear_password', 'mysql_old_password', 'dialog', 'toString', ''])(
    'asked to prove itself by %j, it ends the connection',
    async (plugin) => {
      const { outcome, allHeard, end } = await meet('', async ({ say, hear }) => {
        say(0, greeting('caching_sha2_password'));
        await hear();
        say(2, switchTo(plugin));
        await hear();
      });
      end();
      expect(outcome).toMatch(/plugin|mysql_clear_password/);
      expect(allHeard().includes(PASSWORD)).toBe(false);
    },
  );

  test('a server that asks for a file gets none, and is told that it may not', async () => {
    let allowed = 0;
    const { connection, allHeard, end } = await meet('', async ({ say, hear }) => {
      say(0, greeting('mysql_native_password'));
      allowed = (await hear())?.readUInt32LE(0) ?? 0;
      say(2, OK);
      await hear();
      say(1, [0xfb, ...Buffer.from(file('server.key'))]);
      await hear();
      say(3, OK);
      await hear();
    });
    const CLIENT_LOCAL_FILES = 128; // https://dev.mysql.com/doc/dev/mysql-server/latest/group__group__cs__capabilities__flags.html
    await expect(queryRows(connection, 'SELECT 1')).rejects.toThrow(/LOCAL INFILE/);
    end();
    expect(allowed & CLIENT_LOCAL_FILES).toBe(0);
    expect(allHeard().includes('PRIVATE KEY')).toBe(false);
  });

  test.runIf(hasKeys).each([
    ['ssl=true: no certificate of a stranger, and nothing before one', 'true', false],
    ['ssl=PATH: the same', file('server.pem'), false],
    ['ssl=skip-verify: whoever answers learns the password, encrypted', 'skip-verify', true],
  ])('%s', async (_what, ssl, isHeard) => {
    let secret = '';
    const { outcome, allHeard, end } = await meet(`?ssl=${ssl}`, async (talk) => {
      // It asks for the password before it shows its certificate.
      talk.say(0, greeting('caching_sha2_password', { tls: true }));
      talk.say(2, switchTo('caching_sha2_password'), [1, 4]);
      const tls = await talk.encrypt(readFileSync(file('thief.key')), readFileSync(file('thief.pem')));
      tls.on('data', (data) => {
        secret += data;
        if (secret.includes(PASSWORD)) tls.destroy();
      });
    });
    end();
    expect(outcome).toMatch(isHeard ? /closed|reset/i : /certificate/);
    expect(allHeard().includes(PASSWORD)).toBe(false);
    expect(secret.includes(PASSWORD)).toBe(isHeard);
  });

  test.runIf(hasKeys).each([
    ['127.0.0.1', true],
    ['localhost', false],
  ])('at the address 127.0.0.1, is a certificate for %s believed? %s', async (name, isRight) => {
    makeCertificate(name, file('named.key'), file('named.pem'));
    const certificate = readFileSync(file('named.pem'));
    const ssl = encodeURIComponent(JSON.stringify({ ca: String(certificate), verifyIdentity: true }));
    let isSent = false;
    const comeIn = async (talk: Talk) => {
      talk.say(0, greeting('mysql_native_password', { tls: true }));
      const tls = await talk.encrypt(readFileSync(file('named.key')), certificate);
      tls.on('data', () => {
        isSent = true;
        tls.destroy();
      });
    };
    const { outcome, end } = await meet(`?ssl=${ssl}`, comeIn, '127.0.0.1');
    end();
    expect(outcome).toMatch(isRight ? /closed|reset/i : /certificate/);
    expect(isSent).toBe(isRight);
  });

  test('a server without TLS is refused where it is wanted', async () => {
    const { outcome, allHeard, end } = await meet('?ssl=true', async ({ say, hear }) => {
      say(0, greeting('mysql_native_password'));
      await hear();
    });
    end();
    expect(outcome).toMatch(/secure/);
    expect(allHeard()).toHaveLength(0);
  });
});
