import { beforeAll, expect, test } from 'vitest';
import { columnsOf, type PageQuery } from '../../src/gateway/store/table.ts';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { type NewPet, PETS } from '../../src/petstore/pets/pet.ts';
import { describeEachEngine } from '../support/engines.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const ANIMALS = 4000;
const STATUSES = ['available', 'pending', 'sold', null] as const;

/** A value that animals have, of every field: the last of its words, or what its kind makes of a 1. */
const VALUES = Object.fromEntries(
  columnsOf(PETS).map(({ name, kind }) => [
    name,
    (kind.schema.enum as string[] | undefined)?.at(-1) ?? kind.fromText('1'),
  ]),
);

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
    const newPet = (index: number): NewPet => ({
      ...(VALUES as unknown as NewPet), // of each field what its kind gives
      name: `animal ${index}`,
      status: STATUSES[index % STATUSES.length] ?? null,
    });
    await gateway.pets.addAll(Array.from({ length: ANIMALS }, (_, index) => newPet(index)));
    const { client } = gateway.database.knex; // Knex types it as any
    const query = client.queryPrepared.bind(client);
    client.queryPrepared = (sql: string, bindings: readonly unknown[], deadline: number) => {
      if (sql.includes('FROM pets')) lastSent = { sql, bindings };
      return query(sql, bindings, deadline);
    };
    const word = engine.name === 'mysql' ? 'EXPLAIN' : 'EXPLAIN QUERY PLAN';
    explain = ({ sql, bindings }) => query(`${word} ${sql}`, bindings, deadlineIn(5000));
  });

  // Every field with an index can filter lists: a new one has its cases without a line here.
  const filters = columnsOf(PETS).flatMap(({ name, index }) =>
    index === undefined ? [] : [{ name, index, value: VALUES[name] }],
  );
  const primary = engine.name === 'sqlite' ? 'INTEGER PRIMARY KEY' : 'PRIMARY';
  const cases = combinations(filters).flatMap((chosen) =>
    [null, ANIMALS - 100].map((after) => ({
      by: chosen.map(({ name }) => name).join(' and ') || 'nothing',
      indexes: chosen.length === 0 ? [primary] : chosen.map(({ index }) => index),
      query: { ...Object.fromEntries(chosen.map(({ name, value }) => [name, value])), limit: 10, after },
    })),
  );

  test.each(cases)(
    'by $by after $query.after: by an index of $indexes, in its order, nothing sorted',
    async (asked) => {
      const { indexes, query } = asked;
      const after = query.after === null ? null : (String(query.after) as Int64);
      await gateway.pets.list({ ...query, after } as PageQuery<typeof PETS>, deadlineIn(5000));
      if (lastSent === undefined) throw new Error('no list was sent');
      const told = JSON.stringify(await explain(lastSent));
      expect(indexes.some((index) => new RegExp(`\\b${index}\\b`).test(told)) || told).toBe(true);
      expect(told).not.toMatch(/filesort|temporary|Sort:|TEMP B-TREE/i);
    },
  );
});

/** Every choice of some of `all`, none of them first. */
function combinations<T>(all: readonly T[]): T[][] {
  return Array.from({ length: 2 ** all.length }, (_, bits) => all.filter((_one, bit) => bits & (2 ** bit)));
}
