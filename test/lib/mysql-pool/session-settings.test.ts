import { expect, test } from 'vitest';
import { missingSettings } from '../../../src/lib/mysql-pool/session-settings.ts';
import { LIMITS } from './pool-settings.ts';

test.each([
  ['0', undefined],
  ['OFF', undefined],
  ['', undefined], // a server that knows the variable and has no value
  ['1', '1'],
  ['ON', '1'],
  ['NO_LOCK_NO_ADMIN', '1'], // of MariaDB 12
])('where read_only is %j, transaction_read_only is set to %s', (readOnly, set) => {
  const variables = new Map([
    ['read_only', readOnly],
    ['transaction_read_only', 'OFF'],
  ]);
  expect(missingSettings(variables, LIMITS).get('transaction_read_only')).toBe(set);
});

test.each(['read_only', 'super_read_only', 'innodb_read_only', 'offline_mode', 'tidb_super_read_only'])(
  'a server where %s is on takes no writes',
  (name) => {
    const variables = new Map([
      [name, 'ON'],
      ['transaction_read_only', 'OFF'],
    ]);
    expect(missingSettings(variables, LIMITS).get('transaction_read_only')).toBe('1');
  },
);
