import type { Connection } from 'mysql2';
import { expect, test } from 'vitest';
import { type FilterName, fieldEntries } from '../../src/database/table.ts';
import { deadlineIn } from '../../src/deadline.ts';
import type { Int64 } from '../../src/int64.ts';
import { type NewPet, PETS } from '../../src/pets/pet.ts';
import type { PetsQuery } from '../../src/pets/pet-store.ts';
import { samplePet } from '../../src/pets/sample-pets.ts';
import { ENGINES } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';

const mysql = ENGINES.find(({ name }) => name === 'mysql');
/** More than any statement takes. */
const AT_ONCE_MAX = 40;

test.runIf(mysql)('a connection keeps every text prepared that the hot queries can have', async () => {
  if (!mysql) return;
  const gateway = await startGateway(mysql, { LOG_LEVEL: 'silent', DATABASE_POOL_MAX: '1' });
  const { client } = gateway.database.knex; // Knex types it as any
  const connection: Connection = await client.acquireConnection();
  const texts = new Set<string>();
  const execute = connection.execute.bind(connection) as (options: { sql: string }, ...rest: unknown[]) => unknown;
  Object.assign(connection, {
    execute: (options: { sql: string }, ...rest: unknown[]) => {
      texts.add(options.sql);
      return execute(options, ...rest);
    },
  });
  client.releaseConnection(connection);

  const filters = fieldEntries<NewPet>(PETS.fields).filter(([, { index }]) => index !== undefined);
  const combinations = 2 ** filters.length;
  const query = (combination: number, after: number): PetsQuery => ({
    limit: 1,
    after: String(after) as Int64,
    ...(Object.fromEntries(
      filters.map(([name], bit) => [name, combination & (2 ** bit) ? samplePet(0)[name] : null]),
    ) as Pick<PetsQuery, FilterName<typeof PETS>>),
  });
  for (let atOnce = 1; atOnce <= AT_ONCE_MAX; atOnce++) {
    const each = <T>(work: (index: number) => Promise<T>) =>
      Promise.all(Array.from({ length: atOnce }, (_, n) => work(n)));
    for (let combination = 0; combination < combinations; combination++) {
      await each((index) => gateway.pets.listPets(query(combination, index), deadlineIn()));
    }
    await each((index) => gateway.pets.listPets(query(index % combinations, index), deadlineIn()));
    await each((index) => gateway.pets.getPet(String(index + 1) as Int64, deadlineIn()));
    await each((index) => gateway.pets.addPet(samplePet(index), null, deadlineIn()));
    const once = (index: number) => ({ apiKeyId: '1', idempotencyKey: `${atOnce}-${index}`, position: 1 });
    await each((index) => gateway.pets.addPet(samplePet(index), once(index), deadlineIn()));
  }
  const kept = (connection as unknown as { config: { maxPreparedStatements: number } }).config.maxPreparedStatements; // mysql2's own
  expect(texts.size).toBeGreaterThan(4 * combinations);
  expect(texts.size).toBeLessThanOrEqual(kept * 0.8); // keys and probes have some, too
});
