import { expect, test } from 'vitest';
import { toApiError } from '../../src/errors.ts';
import { generateApiKey } from '../../src/keys/api-key.ts';
import { createAuthenticator } from '../../src/keys/authenticator.ts';
import type { KeyStore } from '../../src/keys/key-store.ts';
import { describeEachEngine, type TestEngine } from '../support/engines.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { watchStatements } from '../support/statements.ts';

const MANY = 60;

/** Many keys that are not known yet, and the queries from now on. */
async function prepareMany(engine: TestEngine) {
  const { database, keys } = await prepareDatabase(engine);
  const create = (n: number) => keys.create({ name: `key ${n}`, expiresAt: null });
  const made = await Promise.all(Array.from({ length: MANY }, (_, n) => create(n)));
  const queries: string[] = [];
  watchStatements(database, (sql) => queries.push(sql));
  return { database, keys, created: made.map(({ key }) => key), queries };
}

/** What comes of a key, by the code of its refusal. */
const outcomesOf = (keys: KeyStore, bearers: readonly string[]) => {
  const authenticator = createAuthenticator(keys);
  const outcomeOf = (bearer: string) =>
    authenticator.lookUp(`Bearer ${bearer}`).then(
      () => 'valid',
      (error) => toApiError(error).code,
    );
  return Promise.all(bearers.map(outcomeOf));
};

const count = (outcomes: readonly string[], code: string) => outcomes.filter((outcome) => outcome === code).length;

describeEachEngine('API keys › many at once after a start', (engine) => {
  test('all valid ones are let in, by one more query than there are keys', async () => {
    const { keys, created, queries } = await prepareMany(engine);
    const outcomes = await outcomesOf(keys, created);
    expect(count(outcomes, 'valid')).toBe(MANY);
    expect(queries).toHaveLength(MANY + 1);
  });

  test('made-up ones among them are refused, those beyond the budget without a query', async () => {
    const { keys, created, queries } = await prepareMany(engine);
    const outcomes = await outcomesOf(
      keys,
      created.flatMap((key) => [generateApiKey(), key]),
    );
    expect(count(outcomes, 'valid')).toBe(MANY);
    expect(count(outcomes, 'too_many_requests')).toBeGreaterThan(0);
    expect(queries).toHaveLength(MANY + count(outcomes, 'unauthorized') + 1);
  });

  test('none is called too many while the database is away', async () => {
    const { keys, created, database } = await prepareMany(engine);
    await database.close();
    const outcomes = await outcomesOf(keys, created);
    expect(outcomes).toEqual(Array.from({ length: MANY }, () => 'service_unavailable'));
  });
});
