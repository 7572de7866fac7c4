import { describe, expect, test } from 'vitest';
import { isDatabaseError, meaningsOf, means } from '../../../src/lib/mysql-errors/mysql-errors.ts';

const serverError = (errno: number, sqlState = 'HY000', message = 'said the server') =>
  Object.assign(new Error(message), { errno, sqlState });
const driverError = (code: string, message = 'said the driver') => Object.assign(new Error(message), { code });
const duplicateOf = (index: string) => serverError(1062, '23000', `Duplicate entry 'x' for key '${index}'`);

describe('what an error means', () => {
  test.each([
    ['the number has it', serverError(1213, '40001'), ['rolledBack']],
    ['the number comes before the SQLSTATE', serverError(1044, '42000'), ['staleSession', 'accessDenied']],
    ['a number of no meaning, whose SQLSTATE would have one', serverError(1040, '08004'), []],
    ['the SQLSTATE has it', serverError(1264, '22003'), ['rowRefused']],
    ['neither has', serverError(1021), []],
    ['the driver has a word for it', driverError('HANDSHAKE_NO_SSL_SUPPORT'), ['untrusted']],
    ['a certificate', driverError('HANDSHAKE_SSL_ERROR', 'self-signed certificate'), ['untrusted', 'unknownOutcome']],
    ['a handshake that was lost', driverError('HANDSHAKE_SSL_ERROR', 'socket disconnected'), []],
    ['a connection that was lost', driverError('PROTOCOL_CONNECTION_LOST'), ['unknownOutcome']],
    ['a connection that could not be opened', driverError('ECONNREFUSED'), []],
    ['an error that is fatal, and without a word', Object.assign(new Error('?'), { fatal: true }), ['unknownOutcome']],
    ['an error that says it itself', Object.assign(new Error('?'), { meanings: ['noWriter'] }), ['noWriter']],
    ['no error at all', undefined, []],
  ])('%s', (_how, error, meanings) => expect(meaningsOf(error)).toEqual(meanings));

  test.each([
    ['a taken id, as MariaDB tells it', duplicateOf('PRIMARY'), true],
    ['a taken id, as MySQL tells it', duplicateOf('pets.PRIMARY'), true],
    ['none is left', serverError(1467), true],
    ['none is left, as MariaDB tells it', serverError(167), true],
    ['a unique index that somebody has added', duplicateOf('pets.names'), false],
    ['a row that is refused', serverError(1264, '22003'), false],
  ])('whether it is about the id that the database assigned: %s', (_what, error, taken) => {
    expect(means(error, 'idTaken')).toBe(taken);
  });

  test('may be several things', () => {
    expect([means(serverError(1062), 'duplicate'), means(serverError(1062), 'rowRefused')]).toEqual([true, true]);
    for (const errno of [1205, 3572]) {
      const error = serverError(errno);
      expect([means(error, 'duplicate', 'lockWait'), means(error, 'rowRefused')]).toEqual([true, false]);
    }
  });
});

test.each([
  ['the server', serverError(9999), true],
  ['the system', Object.assign(new Error('?'), { code: 'ECONNREFUSED', errno: -111 }), true],
  ['the look-up of a name', driverError('EAI_AGAIN'), true],
  ['mysql2', driverError('PROTOCOL_CONNECTION_LOST'), true],
  ['a pool', driverError('POOL_TIMEOUT'), true],
  ['Node', driverError('ERR_INVALID_ARG_TYPE'), false],
  ['a bug', new TypeError('x is undefined'), false],
  ['a text', 'thrown', false],
])('whether an error is one of the database: of %s', (_who, error, isOne) => {
  expect(isDatabaseError(error)).toBe(isOne);
});
