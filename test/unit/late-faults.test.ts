import { expect, test } from 'vitest';
import { DatabaseFault } from '../../src/gateway/errors.ts';
import { faultsOf, isRefused } from '../support/load.ts';
import { isLateFault } from '../support/prepared.ts';

const UNAVAILABLE = 'The service is temporarily unavailable; try again shortly.';

const line = (message: string, msg = UNAVAILABLE): string =>
  JSON.stringify({ level: 50, err: { type: 'DatabaseFault', message }, msg });

test.each([
  'no connection to the database came free in time',
  'too little time is left for a write',
  'Lock wait timeout exceeded; try restarting transaction',
  'database is locked',
])('a 503 whose cause is that something was late is no fault: %s', (message) => {
  expect(faultsOf(line(message))).toEqual([]);
  expect(faultsOf(line(message, 'a response could not be sent'))).toHaveLength(1);
});

test.each(["Unknown column 'state' in 'field list'", 'no such table: pets', 'read ECONNRESET'])(
  'any other is one: %s',
  (message) => expect(faultsOf(line(message))).toHaveLength(1),
);

test('an error of the database is late by a lock or an answer that did not come, and by nothing else', () => {
  const fault = (parts: object) => new DatabaseFault('unavailable', Object.assign(new Error('x'), parts));
  const late = [{ code: 'POOL_TIMEOUT' }, { errno: 1205, sqlState: 'HY000' }, { errcode: 5 }];
  expect(late.map(fault).map(isLateFault)).toEqual([true, true, true]);
  const others = [{ code: 'ECONNRESET' }, { errno: 1054, sqlState: '42S22' }, { errcode: 11 }];
  expect(others.map(fault).map(isLateFault)).toEqual([false, false, false]);
  expect(isLateFault(new Error('x'))).toBe(false);
});

test('a request is refused by 503, by what a process that was held up says, and by the code of GraphQL', () => {
  const refused = [
    { status: 503, text: '' },
    { status: 429, text: 'Too many requests of this API key are waiting' },
    { status: 200, text: '{"errors":[{"extensions":{"code":"SERVICE_UNAVAILABLE"}}]}' },
  ];
  expect(refused.map(isRefused)).toEqual([true, true, true]);
  const others = [500, 429, 401, 200].map((status) => ({ status, text: '{"code":"other"}' }));
  expect(others.map(isRefused)).toEqual([false, false, false, false]);
});
