import { expect, test } from 'vitest';
import { generateApiKey } from '../../src/keys/api-key.ts';
import { createAuthenticator } from '../../src/keys/authenticator.ts';
import { describeEachEngine } from '../support/engines.ts';
import { eventually } from '../support/load.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { watchStatements } from '../support/statements.ts';

/** An authenticator on a clock of the test's own, and the queries it has sent. */
async function prepare(engine: Parameters<typeof prepareDatabase>[0]) {
  const { database, keys, key } = await prepareDatabase(engine);
  const clock = { now: 1000 };
  const queries: string[] = [];
  watchStatements(database, (sql) => queries.push(sql));
  const authenticator = createAuthenticator(keys, () => clock.now);
  const outcome = (bearer: string) =>
    authenticator.lookUp(`Bearer ${bearer}`).then(
      () => 'valid',
      (error) => String(error.code),
    );
  return { keys, key, clock, queries, outcome };
}

describeEachEngine('API keys › made-up ones', (engine) => {
  test('a flood of them costs a bounded number of queries; a key that was seen is looked up all the same', async () => {
    const { key, clock, queries, outcome } = await prepare(engine);
    expect(await outcome(key)).toBe('valid');
    queries.length = 0;
    const outcomes: string[] = [];
    for (let round = 0; round < 20; round++) {
      outcomes.push(...(await Promise.all(Array.from({ length: 20 }, () => outcome(generateApiKey())))));
    }
    expect(outcomes.filter((code) => code === 'unauthorized')).toHaveLength(100);
    expect(outcomes.filter((code) => code === 'too_many_requests')).toHaveLength(300);
    expect(queries.length).toBeGreaterThanOrEqual(100);
    expect(queries.length).toBeLessThanOrEqual(101); // and the one that learns which keys there are
    clock.now += 100_000; // nothing of it is believed any more
    for (let round = 0; round < 10; round++)
      await Promise.all(Array.from({ length: 20 }, () => outcome(generateApiKey())));
    expect(await outcome(key)).toBe('valid');
  });

  test('a key that is made during the flood works within a second', async () => {
    const { keys, clock, outcome } = await prepare(engine);
    const flood = () => Promise.all(Array.from({ length: 150 }, () => outcome(generateApiKey())));
    await flood();
    for (let round = 0; round < 5; round++) await flood();
    const { key } = await keys.create({ name: 'made meanwhile', expiresAt: null });
    const works = await eventually(
      async () => {
        clock.now += 250;
        await flood();
        return (await outcome(key)) === 'valid';
      },
      20_000,
      'the new key works',
    );
    expect(works).toBe(true);
  });

  test('look-ups that get no answer do not pile up', async () => {
    const { keys, clock } = await prepare(engine);
    let hanging = 0;
    const stalled = createAuthenticator(
      {
        ...keys,
        findByHash() {
          hanging++;
          return new Promise(() => {});
        },
      },
      () => clock.now,
    );
    for (let request = 0; request < 90; request++) stalled.lookUp(`Bearer ${generateApiKey()}`).catch(() => {});
    expect(hanging).toBe(20);
  });
});
