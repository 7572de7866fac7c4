import { beforeAll, expect, test } from 'vitest';
import type { Int64 } from '../../src/int64.ts';
import { FACES } from '../parity/faces.ts';
import { describeEachEngine } from '../support/engines.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const ANIMALS = 4000;
const STATUSES = ['available', 'pending', 'sold', null] as const;

interface Sent {
  readonly sql: string;
  readonly bindings: readonly unknown[];
}

describeEachEngine('the cost of a list', (engine) => {
  let gateway: TestGateway;
  let lastSent: Sent | undefined;
  /** What the server tells of its plan for a statement: each has words of its own. */
  let explain: (sent: Sent) => Promise<unknown>;

  beforeAll(async () => {
    gateway = await startGateway(engine, { LOG_LEVEL: 'silent' });
    const newPet = (index: number) => ({
      name: `animal ${index}`,
      categoryId: '1' as Int64,
      status: STATUSES[index % STATUSES.length] ?? null,
    });
    await gateway.pets.addPets(Array.from({ length: ANIMALS }, (_, index) => newPet(index)));
    const { client } = gateway.database.knex; // Knex types it as any
    const query = client.queryPrepared.bind(client);
    client.queryPrepared = (sql: string, bindings: readonly unknown[]) => {
      if (sql.includes('FROM pets')) lastSent = { sql, bindings };
      return query(sql, bindings);
    };
    const word = engine.name === 'mysql' ? 'EXPLAIN' : 'EXPLAIN QUERY PLAN';
    explain = ({ sql, bindings }) => query(`${word} ${sql}`, bindings);
  });

  test.each([
    ['all, first page', {}],
    ['all, last page', { after: String(ANIMALS - 10) }],
    ['one status, first page', { status: 'sold' }],
    ['one status, last page', { status: 'sold', after: String(ANIMALS - 100) }],
  ])('%s: by the index, in its order, nothing sorted', async (_name, parameters: Record<string, string>) => {
    await FACES.rest.list(gateway, { limit: '10', ...parameters });
    if (lastSent === undefined) throw new Error('no list was sent');
    const plan = await explain(lastSent);
    const told = JSON.stringify(plan);
    expect(told).toMatch(parameters.status ? /pets_status_id/ : /PRIMARY/);
    expect(told).not.toMatch(/filesort|temporary|Sort:|TEMP B-TREE/i);
  });
});
