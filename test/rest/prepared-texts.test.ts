import { expect, test } from 'vitest';
import { columnsOf, type PageQuery } from '../../src/gateway/store/table.ts';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import type { PoolEntry } from '../../src/lib/mysql-pool/mysql-pool.ts';
import { PETS, samplePet } from '../../src/petstore/pets/pet.ts';
import { ENGINES } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';

const mysql = ENGINES.find(({ name }) => name === 'mysql');
/** More than any statement takes. */
const AT_ONCE_MAX = 40;

test.runIf(mysql)('a connection keeps every text prepared that the hot queries can have', async () => {
  if (!mysql) return;
  const gateway = await startGateway(mysql, { LOG_LEVEL: 'silent', DATABASE_POOL_MAX: '1' });
  const { client } = gateway.database.knex; // Knex types it as any
  const session: PoolEntry = await client.acquireConnection();
  const { driver } = session.connection;
  const texts = new Set<string>();
  const execute = driver.execute.bind(driver) as (options: { sql: string }, ...rest: unknown[]) => unknown;
  Object.assign(driver, {
    execute: (options: { sql: string }, ...rest: unknown[]) => {
      texts.add(options.sql);
      return execute(options, ...rest);
    },
  });
  client.releaseConnection(session);

  const filters = columnsOf(PETS).filter(({ index }) => index !== undefined);
  const combinations = 2 ** filters.length;
  const query = (combination: number, after: number): PageQuery<typeof PETS> => ({
    limit: 1,
    after: String(after) as Int64,
    ...Object.fromEntries(
      filters.map(({ name }, bit) => [name, combination & (2 ** bit) ? Object(samplePet(0))[name] : null]),
    ),
  });
  for (let atOnce = 1; atOnce <= AT_ONCE_MAX; atOnce++) {
    const each = <T>(work: (index: number) => Promise<T>) =>
      Promise.all(Array.from({ length: atOnce }, (_, n) => work(n)));
    for (let combination = 0; combination < combinations; combination++) {
      await each((index) => gateway.pets.list(query(combination, index), deadlineIn(5000)));
    }
    await each((index) => gateway.pets.list(query(index % combinations, index), deadlineIn(5000)));
    await each((index) => gateway.pets.get(String(index + 1) as Int64, deadlineIn(5000)));
    await each((index) => gateway.pets.add(samplePet(index), null, deadlineIn(5000)));
    const scopedKey = (index: number) => ({
      ownerId: '1',
      idempotencyKey: `${atOnce}-${index}`,
      position: 1,
    });
    await each((index) => gateway.pets.add(samplePet(index), scopedKey(index), deadlineIn(5000)));
  }
  const kept = (driver as unknown as { config: { maxPreparedStatements: number } }).config.maxPreparedStatements; // mysql2's own
  expect(texts.size).toBeGreaterThan(4 * combinations);
  expect(texts.size).toBeLessThanOrEqual(kept * 0.8); // keys and probes have some, too
});
