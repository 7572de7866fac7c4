import { expect, test } from 'vitest';
import { missingSettings } from '../../../src/lib/mysql-pool/session-settings.ts';
import { LIMITS } from './pool-settings.ts';

// Whether a server takes no writes.
test.each([
  ['read_only', '0', undefined],
  ['read_only', 'OFF', undefined],
  ['read_only', '', undefined], // a server that knows the variable and has no value
  ['read_only', '1', '1'],
  ['read_only', 'ON', '1'],
  ['read_only', 'NO_LOCK_NO_ADMIN', '1'], // of MariaDB 12
  ['super_read_only', 'ON', '1'],
  ['innodb_read_only', 'ON', '1'],
  ['offline_mode', 'ON', '1'],
  ['tidb_super_read_only', 'ON', '1'],
])('where %s is %j, transaction_read_only is set to %s', (name, value, set) => {
  const variables = new Map([
    [name, value],
    ['transaction_read_only', 'OFF'],
  ]);
  expect(missingSettings(variables, LIMITS).get('transaction_read_only')).toBe(set);
});
