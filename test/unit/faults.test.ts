import { describe, expect, test } from 'vitest';
import { isPermanent, isRefused, means, type WorkKind, withRetries } from '../../src/gateway/database/faults.ts';
import { RETRY_LEAST_MS } from '../../src/gateway/deadlines.ts';
import { DatabaseFault, toApiError } from '../../src/gateway/errors.ts';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';
import { MysqlPoolError } from '../../src/lib/mysql-pool/mysql-pool.ts';

const serverError = (errno: number, sqlState = 'HY000') =>
  Object.assign(new Error('said the server'), { errno, sqlState });

const said = new Error('said the driver');

test.each([
  ['unavailable', 503, 'The service is temporarily unavailable; try again shortly.', { 'Retry-After': '1' }],
  ['noWriter', 503, 'The service is temporarily unavailable; try again shortly.', { 'Retry-After': '1' }],
  ['tooLarge', 413, 'The database takes no value of this length.', {}],
] as const)("%s is %i, and the cause is the driver's own error", (meaning, status, message, headers) => {
  const refusal = toApiError(new DatabaseFault(meaning, said));
  expect(refusal).toMatchObject({ status, message, headers, cause: said });
});

describe('what an error of the database means', () => {
  test('whatever number a server has for it, known to us or not, is 503', async () => {
    const numbers = Array.from({ length: 10_000 }, (_, errno) => errno);
    const ours = numbers.filter((errno) => means(serverError(errno), 'wrongStatement'));
    const refused: number[] = [];
    for (const errno of numbers.filter((errno) => !ours.includes(errno))) {
      const error = await withRetries(() => Promise.reject(serverError(errno)), deadlineIn(5000)).catch(toApiError);
      if (error.status !== 503) refused.push(errno);
    }
    expect(ours).toEqual([1064, 1065, 1136, 1390]);
    expect(refused).toEqual([1153, 1301]); // too large: 413
  });

  const driverError = (code: string, message = 'said the driver') =>
    Object.assign(new Error(message), { code, fatal: true });
  const sqliteError = (errcode: number) =>
    Object.assign(new Error('said SQLite'), { code: 'ERR_SQLITE_ERROR', errcode });

  // What ends a start, and what it waits for.
  test.each([
    ['a wrong password', serverError(1045, '28000'), 'accessDenied'],
    ['an account that needs one', serverError(1698, '28000'), 'accessDenied'],
    ['no right to the database', serverError(1044, '42000'), 'accessDenied'],
    ['no right to a table', serverError(1142, '42000'), 'accessDenied'],
    ['an address that is not allowed', serverError(1130), 'accessDenied'],
    ['an expired password', serverError(1862), 'accessDenied'],
    ['a password that must be changed', serverError(1820), 'accessDenied'],
    ['a way to authenticate that the server has not loaded', serverError(1524), 'accessDenied'],
    ['a way that the driver does not know', serverError(1251, '08004'), 'accessDenied'],
    ['an unknown database', serverError(1049, '42000'), 'unknownDatabase'],
    ['a table that is there', serverError(1050, '42S01'), 'unusable'],
    ['a server that wants TLS', serverError(3159), 'untrusted'],
    ['a server without TLS', driverError('HANDSHAKE_NO_SSL_SUPPORT'), 'untrusted'],
    ['another certificate', driverError('HANDSHAKE_SSL_ERROR', 'self-signed certificate'), 'untrusted'],
    ['another name in it', driverError('HANDSHAKE_SSL_ERROR', "does not match certificate's altnames"), 'untrusted'],
    ['our certificate is refused', driverError('ERR_SSL_X', 'tlsv13 alert certificate required'), 'untrusted'],
    ['an unknown plugin', driverError('AUTH_SWITCH_PLUGIN_ERROR'), 'untrusted'],
    ['a server that wants the password itself', driverError('MYSQL_CLEAR_PASSWORD_NOT_ENABLED'), 'untrusted'],
    ['a key that is not known', new MysqlPoolError('POOL_TRUST', 'said the pool'), 'untrusted'],
    ['settings that are not taken', new MysqlPoolError('POOL_SETTING_REFUSED', 'said the pool'), 'unusable'],
    ['SQLite: a file that is none of a database', sqliteError(26), 'unusable'],
    ['SQLite: a full disk', sqliteError(13), 'unusable'],
    ['SQLite: another process writes', sqliteError(5), 'unavailable'],
    ['SQLite: another connection of this process writes', sqliteError(6), 'unavailable'],
    ['SQLite: another process recovers the log', sqliteError(261), 'unavailable'],
    ['a network lost during a handshake', driverError('HANDSHAKE_SSL_ERROR', 'socket disconnected'), 'unavailable'],
    ['too many connections', serverError(1040, '08004'), 'unavailable'],
    ['too many connections of the account', serverError(1203, '42000'), 'unavailable'],
    ['a limit of the account', serverError(1226, '42000'), 'unavailable'],
    ['no prepared statement left', serverError(1461, '42000'), 'unavailable'],
    ['a locked account', serverError(3118), 'unavailable'],
    ['no server that takes writes', new MysqlPoolError('POOL_NO_WRITER', 'said the pool'), 'noWriter'],
    ...['EAI_AGAIN', 'EAI_FAIL', 'ENOTFOUND', 'ECONNREFUSED', 'PROTOCOL_CONNECTION_LOST'].map(
      (code): [string, Error, string] => [code, Object.assign(new Error(code), { code }), 'unavailable'],
    ),
  ])('%s is a fault that lasts, or one that mends itself', async (_what, error, meaning) => {
    const failing = withRetries(() => Promise.reject(error), deadlineIn(0));
    await expect(failing).rejects.toMatchObject({ meaning });
    expect(isPermanent(error)).toBe(!['unavailable', 'noWriter'].includes(meaning));
  });

  test('SQLite: what is wrong with the schema is, what is wrong with a statement is not', async () => {
    const said = (message: string) => Object.assign(new Error(message), { errcode: 1 });
    const failing = (message: string) => withRetries(() => Promise.reject(said(message)), deadlineIn(5000));
    for (const message of ['no such table: pets', 'no such column: tag', 'table pets has no column named tag']) {
      await expect(failing(message), message).rejects.toMatchObject({ meaning: 'unusable' });
    }
    await expect(failing('near "SELEC": syntax error')).rejects.toMatchObject({ errcode: 1 });
  });

  test('a fault of ours stays one: a statement that is wrong, and what no database has said', async () => {
    for (const ours of [serverError(1064), serverError(1136), new TypeError('x is undefined')]) {
      await expect(withRetries(() => Promise.reject(ours), deadlineIn(5000))).rejects.toBe(ours);
    }
  });

  const lost = Object.assign(new Error('the connection is gone'), { code: 'PROTOCOL_CONNECTION_LOST', fatal: true });
  const refused = Object.assign(new Error('nobody listens'), { code: 'ECONNREFUSED', fatal: true });
  const silent = Object.assign(new MysqlPoolError('POOL_TIMEOUT', 'no answer in time'), { fatal: true });

  // How often work that always fails so is begun: as a read, as what does no harm twice, as any write.
  test.each([
    ['rolled back in favour of another (1213)', serverError(1213), [4, 4, 4]],
    ['rolled back by its group (3101)', serverError(3101), [4, 4, 4]],
    ['stopped by a member that has left its group (3100)', serverError(3100), [2, 2, 1]],
    ['refused by a server that takes no writes (1290)', serverError(1290), [2, 2, 2]],
    ['refused by a node without its cluster (1047)', serverError(1047), [2, 2, 2]],
    ['a statement that must be prepared anew (1615)', serverError(1615), [2, 2, 2]],
    ['stopped with its server (1053)', serverError(1053), [2, 2, 1]],
    ['killed (1317)', serverError(1317), [2, 2, 1]],
    ['killed (1927)', serverError(1927), [2, 2, 1]],
    ['the connection is lost', lost, [2, 2, 1]],
    ['a TLS alert ends the connection', driverError('ERR_SSL_X', 'ssl/tls alert bad record mac'), [2, 2, 1]],
    ['no connection can be opened', refused, [1, 1, 1]],
    ['no answer in time', silent, [1, 1, 1]],
    ['a disk that is full (1021)', serverError(1021), [1, 1, 1]],
    ['a duplicate (1062)', serverError(1062), [1, 1, 1]],
  ])('%s: what may be done again is', async (_what, error, expected) => {
    const begun = async (kind: WorkKind, ms = 5000) => {
      let runs = 0;
      const work = () => {
        runs++;
        return Promise.reject(error);
      };
      await expect(withRetries(work, deadlineIn(ms), kind)).rejects.toBeDefined();
      return runs;
    };
    expect([await begun('read'), await begun('idempotent'), await begun('write')]).toEqual(expected);
    expect([await begun('idempotent', 100), await begun('write', 100), await begun('read', 0)]).toEqual([1, 1, 1]);
    expect(await begun('read', RETRY_LEAST_MS)).toBe(expected[0]); // a read needs no time for a lock
  });

  test('a write is begun again after the numbers that say that nothing was done, and after no other', async () => {
    const again: number[] = [];
    for (let errno = 1; errno < 10_000; errno++) {
      let runs = 0;
      const work = () => Promise.reject(++runs === 1 ? serverError(errno) : new Error('begun again'));
      await withRetries(work, deadlineIn(5000), 'write').catch(() => {});
      if (runs > 1) again.push(errno);
    }
    expect(again).toEqual([
      ...[1020, 1047, 1205, 1206, 1213, 1243, 1290, 1412, 1615, 1792, 1836, 1874, 3101, 3572],
      ...[8002, 8005, 8022, 8028, 8229, 9004, 9006, 9007], // TiDB
    ]);
  });

  test('what is done again and succeeds is done', async () => {
    let runs = 0;
    const work = () => (++runs < 3 ? Promise.reject(serverError(1213)) : Promise.resolve('done'));
    expect(await withRetries(work, deadlineIn(5000))).toBe('done');
  });

  test.each([
    ['a value that a narrowed column does not take', serverError(1264, '22003'), true],
    ['MySQL has HY000 for some of them', serverError(1366, 'HY000'), true],
    ["a trigger's own number", serverError(30_001, '45000'), true],
    ['a unique index that somebody has added', serverError(1062, '23000'), true],
    ['SQLite: any constraint', Object.assign(new Error('NOT NULL constraint failed'), { errcode: 1299 }), true],
    ['what is too large', new DatabaseFault('tooLarge'), true],
    ['a table that is away', serverError(1146, '42S02'), false],
    ['a lost deadlock', new DatabaseFault('unavailable', serverError(1213, '40001')), false],
    ['Vitess has this number for a lost connection, too', serverError(1105, '22001'), false],
    ['a fault of ours', new Error('ours'), false],
  ])('whether it may be about one row of several: %s', (_what, error, refused) => {
    expect(isRefused(error)).toBe(refused);
  });

  test("what a proxy's own client library met leaves the outcome open", async () => {
    for (const errno of [2006, 2013, 2055]) {
      const passedOn = Object.assign(serverError(errno, 'Lost connection'), { sqlState: 'HY000' });
      const failing = withRetries(() => Promise.reject(passedOn), deadlineIn(5000), 'idempotent');
      const error = await failing.catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ meaning: 'unavailable' });
      expect(isRefused(error)).toBe(false);
    }
  });

  test('a fault means what its cause does', () => {
    const error = serverError(1205);
    for (const each of [error, new DatabaseFault('unavailable', error)]) {
      expect([means(each, 'duplicate', 'lockWait'), means(each, 'rowRefused')]).toEqual([true, false]);
    }
  });
});
