import { afterEach, expect, test, vi } from 'vitest';
import { readConfig } from '../../src/gateway/config.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';
import { createLog } from '../../src/gateway/log.ts';
import { welcome } from '../../src/gateway/process/first-start.ts';
import { PETSTORE } from '../../src/petstore/petstore.ts';
import { SQLITE } from '../support/engines.ts';
import { prepareDatabase } from '../support/prepared.ts';

afterEach(() => void vi.restoreAllMocks());

test.each([
  ['http://0.0.0.0:4000', 'http://127.0.0.1:4000'],
  ['http://[::]:4000', 'http://127.0.0.1:4000'],
  ['http://127.0.0.1:4000', 'http://127.0.0.1:4000'],
  ['http://[2001:db8::]:4000', 'http://[2001:db8::]:4000'],
])('who listens on %s is told of %s', async (listeningOn, told) => {
  const print = vi.spyOn(console, 'log').mockReturnValue();
  // All that a greeting asks of a gateway without keys, on a database of one's own.
  const gateway = { service: PETSTORE, keys: { count: async () => 0 } } as unknown as Gateway;
  await welcome(gateway, readConfig({ DATABASE_URL: 'mysql://root@127.0.0.1/pets' }), createLog('silent'), listeningOn);
  const [[printed] = []] = print.mock.calls;
  expect(printed.match(/http:\S+/g)).toEqual(['/', '/v1/pets', '/docs', '/graphql'].map((path) => told + path));
});

test('a key that another process has made meanwhile stays the only one, and no samples are added to its own', async () => {
  vi.spyOn(console, 'log').mockReturnValue();
  const { database, keys } = await prepareDatabase(SQLITE);
  const gateway = { service: PETSTORE, database, keys: { count: async () => 0 } } as unknown as Gateway; // as it was
  await welcome(gateway, readConfig({}), createLog('silent'), 'http://127.0.0.1:4000');
  expect([await keys.count(), await database.knex('pets').select('id')]).toEqual([1, []]);
});
