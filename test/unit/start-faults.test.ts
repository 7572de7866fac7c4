import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { explainFailure } from '../../src/gateway/command-line.ts';
import { readConfig } from '../../src/gateway/config.ts';
import { DatabaseFault } from '../../src/gateway/errors.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import { createLog } from '../../src/gateway/log.ts';
import { whenDatabaseAnswers } from '../../src/gateway/process/start.ts';
import { PETSTORE } from '../../src/petstore/petstore.ts';
import { SQLITE } from '../support/engines.ts';
import { failure, greeting, startImpostor } from '../support/impostor.ts';
import { openFiles } from '../support/open-files.ts';
import { freePort } from '../support/ports.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { listenOnFreePort } from '../support/served-app.ts';

/** How a start on this database ends, which is tried twice at most: what it waited for, or the line with which it ended. */
async function startOn(place: string) {
  const warnings: string[] = [];
  const config = readConfig({ DATABASE_URL: `mysql://app:S3cr%40t@${place}/petstore` });
  const log = createLog('warn', { write: (line) => warnings.push(JSON.parse(line).msg) });
  const enough = new Error('it was tried again');
  let tries = 0;
  const open = () => (++tries === 2 ? Promise.reject(enough) : createGateway({ service: PETSTORE, config, log }));
  const thrown: unknown = await whenDatabaseAnswers(open, config, log, async () => 'meanwhile').catch(
    (error: unknown) => error,
  );
  if (thrown !== enough) return { waitsFor: warnings[0], ...explainFailure(thrown, config) };
  expect(warnings).toHaveLength(1);
  return { waitsFor: warnings[0] };
}

/** A TCP server that says `words` to whoever comes, and nothing more. */
async function startStranger(words: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {}); // who leaves, leaves
    if (words !== '') socket.end(words);
  });
  return `127.0.0.1:${await listenOnFreePort(server)}`;
}

/** A server that answers whoever says who he is with this packet. */
async function answers(packet: Buffer): Promise<string> {
  const { port } = await startImpostor(async ({ socket, say, hear }) => {
    say(0, greeting('mysql_native_password'));
    await hear();
    say(2, packet);
    await hear();
    socket.end();
  });
  return `127.0.0.1:${port}`;
}

const refuses = (...error: Parameters<typeof failure>) => answers(failure(...error));

describe.concurrent('a start waits', () => {
  it.each([
    ['for one that is silent', () => startStranger(''), 'does not answer: no answer in time'],
    ['for one that hangs up', () => startStranger('x'), 'does not answer: '],
    ['for one that talks nonsense', () => startStranger('\x05\0\0\0nonsense\0\0'), ''],
    ['for a name that is not known yet', async () => 'petstore.invalid', 'does not answer: '],
    ['for connections to spare', () => refuses(1040, '08004', 'Too many'), 'cannot be used: Too many'],
    ['for a server that ends', () => refuses(1053, '08S01', 'Server shutdown'), 'cannot be used: Server shutdown'],
    ['for a number that nobody knew', () => refuses(9876, 'HY000', 'Later'), 'cannot be used: Later'],
    [
      'for the other of two hosts, when one refuses',
      async () => `${await refuses(1045, '28000', 'Access denied')},127.0.0.1:${await freePort()}`,
      'does not answer: no server takes writes: ',
    ],
  ])('%s', async (_what, place, reason) => {
    const where = await place();
    const { waitsFor } = await startOn(where);
    expect(waitsFor).toContain(`The database mysql://app:***@${where}/petstore ${reason}`);
    expect(waitsFor).toMatch(/[^.]\. Waiting for it; meanwhile$/);
  });
});

describe.concurrent('what no wait mends ends a start, in one line', () => {
  const ACCOUNT = 'correct DATABASE_URL, or the account and its rights at the server';
  const PLUGINS = 'caching_sha2_password, mysql_native_password and sha256_password work';
  const UNKNOWN = 'does not exist: said: create it, or correct its name in DATABASE_URL';
  const UNTRUSTED = 'is not trusted: said: correct the options of DATABASE_URL (docs/databases.md#tls), or the server';
  const asksBy = (plugin: string) => answers(Buffer.from(`\xfe${plugin}\0${'n'.repeat(32)}`, 'latin1'));
  it.each<[what: string, place: () => Promise<string>, sentence: string]>([
    ['a wrong password', () => refuses(1045, '28000', 'said'), `refuses the account: said: ${ACCOUNT}`],
    ['an unknown database', () => refuses(1049, '42000', 'said'), UNKNOWN],
    ['a server that wants TLS', () => refuses(3159, 'HY000', 'said'), UNTRUSTED],
    ['a table in the way', () => refuses(1050, '42S01', 'said'), 'cannot be used: said'],
    ...['client_ed25519', 'auth_gssapi_client', 'mysql_clear_password'].map(
      (plugin): [string, () => Promise<string>, string] => [
        `an account with the plugin ${plugin}`,
        () => asksBy(plugin),
        `refuses the account: its plugin is ${plugin}; ${PLUGINS}: ${ACCOUNT}`,
      ],
    ),
  ])('%s', async (_what, place, sentence) => {
    const where = await place();
    const line = `The database mysql://app:***@${where}/petstore ${sentence}`;
    expect(await startOn(where)).toEqual({ waitsFor: undefined, exitCode: 1, line });
  });
});

it('a start that fails after its database has answered leaves no file of it open', async () => {
  const { url: DATABASE_URL, database } = await prepareDatabase(SQLITE);
  await database.knex('knex_migrations').where('id', '>', 1).delete(); // they run again, and one finds what is in its way
  await database.knex.raw('DROP TABLE api_keys');
  await database.knex.raw('CREATE VIEW api_keys AS SELECT 1 AS id');
  await database.close();
  const parts = { service: PETSTORE, config: readConfig({ DATABASE_URL }), log: createLog('silent') };
  await expect(createGateway(parts)).rejects.toThrow('The database cannot be used as it is.');
  expect(openFiles('self', DATABASE_URL.slice('sqlite:'.length))).toEqual([]);
});

it('what SQLite answers is no lack of an answer', () => {
  const said = Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 10 });
  const { line } = explainFailure(new DatabaseFault('unusable', said), readConfig({ DATABASE_URL: 'sqlite:x' }));
  expect(line).toBe('The database sqlite:x cannot be used: disk I/O error');
});

it('a line of many rows names the reason after one row of placeholders', () => {
  const many = Array.from({ length: 1000 }, () => '(?,?,?)').join(',');
  const reason = new Error(`INSERT INTO pets (name,status,category_id) VALUES ${many} - the file was moved`);
  const { line } = explainFailure(new DatabaseFault('unavailable', reason));
  expect(line).toBe('INSERT INTO pets (name,status,category_id) VALUES (?,?,?), … - the file was moved');
});
