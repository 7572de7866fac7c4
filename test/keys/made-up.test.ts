import { expect, test } from 'vitest';
import { toApiError } from '../../src/gateway/errors.ts';
import { generateApiKey } from '../../src/gateway/keys/api-key.ts';
import { createAuthenticator } from '../../src/gateway/keys/authenticator.ts';
import { describeEachEngine } from '../support/engines.ts';
import { eventually } from '../support/load.ts';
import { prepareDatabase } from '../support/prepared.ts';

type Keys = Parameters<typeof createAuthenticator>[0];

/** Look-ups in flight, and requests that wait for theirs. */
const [IN_FLIGHT, WAITING] = [20, 1000];

/** What becomes of a key: `valid`, or the code of its refusal. */
const outcomesOf = (keys: Keys, bearers: readonly string[], { lookUp } = createAuthenticator(keys)) =>
  Promise.all(
    bearers.map((bearer) =>
      lookUp(bearer).then(
        () => 'valid',
        (error) => toApiError(error).code,
      ),
    ),
  );
const madeUp = (count: number) => Array.from({ length: count }, generateApiKey);

describeEachEngine('API keys › many at once after a start', (engine) => {
  const MANY = 60;

  test('all valid ones work, among made-up ones', async () => {
    const { keys } = await prepareDatabase(engine);
    const create = (n: number) => keys.create({ name: `key ${n}`, expiresAt: null });
    const made = await Promise.all(Array.from({ length: MANY }, (_, n) => create(n)));
    const bearers = made.flatMap(({ key }) => [generateApiKey(), key]);
    const ask = async () => {
      const outcomes = await outcomesOf(keys, bearers);
      return !outcomes.includes('service_unavailable') && outcomes; // a slow database
    };
    const outcomes = await eventually(ask, 30_000, 'the database is in time');
    expect(outcomes).toEqual(made.flatMap(() => ['unauthorized', 'valid']));
  });

  test('none is called too many while the database is away', async () => {
    const { keys, database } = await prepareDatabase(engine);
    await database.close();
    expect(new Set(await outcomesOf(keys, madeUp(MANY)))).toEqual(new Set(['service_unavailable']));
  });

  test('a key that is made during a flood of made-up ones works at once', async () => {
    const { keys } = await prepareDatabase(engine);
    const authenticator = createAuthenticator(keys);
    const flood = outcomesOf(keys, madeUp(IN_FLIGHT + WAITING - 1), authenticator);
    const { key } = await keys.create({ name: 'made meanwhile', expiresAt: null });
    const ask = async () => {
      const [outcome] = await outcomesOf(keys, [key], authenticator);
      return outcome !== 'service_unavailable' && outcome; // a slow database, as below
    };
    expect(await eventually(ask, 30_000, 'the database is in time')).toBe('valid');
    const outcomes = new Set(await flood);
    outcomes.delete('service_unavailable'); // a slow database
    expect(outcomes).toEqual(new Set(['unauthorized']));
  });
});

describeEachEngine('API keys › look-ups that get no answer', (engine) => {
  test('are bounded, and so are those that wait; a key in the cache is looked up all the same', async () => {
    const { keys, key } = await prepareDatabase(engine);
    let moment = 0;
    let hanging = 0;
    const stalled: Keys = {
      findByHash(hash, deadline) {
        if (moment === 0) return keys.findByHash(hash, deadline);
        hanging++;
        return new Promise(() => {});
      },
    };
    const { lookUp, findCached } = createAuthenticator(stalled, () => moment);
    await lookUp(key);
    await new Promise(setImmediate); // its slot is free then
    moment = 100_000; // the key is not believed any more
    const refused: string[] = [];
    for (const bearer of madeUp(IN_FLIGHT + WAITING + 5)) {
      lookUp(bearer).catch((error) => refused.push(error.code));
    }
    await new Promise(setImmediate);
    expect([hanging, refused]).toEqual([IN_FLIGHT, Array(5).fill('too_many_requests')]);
    expect(findCached(key)).toBeUndefined();
    void lookUp(key);
    expect(hanging).toBe(IN_FLIGHT + 1);
  });
});
