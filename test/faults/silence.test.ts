import { describe, expect, test } from 'vitest';
import type { Answer } from '../support/client.ts';
import { describeOnMysql } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { eventually, isShed } from '../support/load.ts';
import { msSince, RETRY_NOT_WITHIN } from '../support/stall-clock.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const ANSWERED_WITHIN_MS = 5500;
const HEALED_WITHIN_MS = 2000;

/** What a request may ask of the database, by its text on the way there; a prepared one by its values. */
const ROUND_TRIPS: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['set-up: the look at the server', /SHOW SESSION VARIABLES/],
  ['set-up: SET SESSION', /SET SESSION/],
  ['the look-up of a key', /FROM api_keys/],
  ['a plain create', /plain 1\b/],
  ['the look for a record', /FROM idempotency_keys/],
  ['BEGIN', /BEGIN;/],
  ['a create within a transaction', /once 1\b/],
  ['the record of a create', /INSERT INTO idempotency_keys/],
  ['COMMIT', /COMMIT;/],
  ['a list', /FROM pets/],
  ['readiness', /knex_migrations/],
];

/** One gateway starts after the other: so many migrations at once take a loaded server longer than a request may. */
let startsBefore: Promise<unknown> = Promise.resolve();

describeOnMysql('an answer that never comes', (engine) => {
  test('each of these is asked when nothing is lost', async () => {
    const proxy = await startTcpProxy(await engine.freshDatabase());
    const missing = new Map(ROUND_TRIPS);
    proxy.changeQuestions((bytes) => {
      for (const [what, pattern] of missing) if (pattern.test(bytes.toString('latin1'))) missing.delete(what);
      return bytes;
    });
    const gateway = await startGateway(engine, { DATABASE_URL: proxy.url });
    const askAll = async () => {
      await gateway.createPet({ name: 'plain 1', categoryId: 1 });
      await gateway.createPet({ name: 'once 1', categoryId: 1 }, { 'idempotency-key': crypto.randomUUID() });
      await gateway.request('/v1/pets');
      await gateway.request('/readyz');
      return missing.size === 0;
    };
    // Again where a loaded machine has refused some.
    await eventually(askAll, 10_000, 'all are asked').catch(() => {});
    expect([...missing.keys()]).toEqual([]);
    await gateway.close();
  });

  describe.each([1, 10])('a pool of %i', (poolMax) => {
    test.concurrent.each(ROUND_TRIPS)(
      '%s: right or 503 in time, soon healed, nothing lost or doubled',
      RETRY_NOT_WITHIN,
      async (_what, pattern) => {
        const proxy = await startTcpProxy(await engine.freshDatabase());
        const start = () => startGateway(engine, { DATABASE_URL: proxy.url, DATABASE_POOL_MAX: String(poolMax) });
        const starting = startsBefore.then(start, start);
        startsBefore = starting;
        const gateway = await starting;
        proxy.swallowAnswersTo(pattern);
        if (pattern.test('SHOW SESSION VARIABLES SET SESSION')) proxy.cut(); // for new connections
        const create = (name: string, headers?: Record<string, string>) =>
          gateway.createPet({ name, categoryId: 1 }, headers);
        const numbers = [1, 2, 3, 4];
        const once = (number: number) => create(`once ${number}`, { 'idempotency-key': `key-${number}` });
        const asked = [
          ...numbers.map(once),
          ...numbers.map((number) => create(`plain ${number}`)),
          ...numbers.map((number) => gateway.request(`/v1/pets?limit=${number}`)),
          gateway.request('/readyz'),
        ];
        const startedAt = performance.now();
        const [answers] = await Promise.all([
          Promise.all(asked.map((answer) => timed(answer, startedAt))),
          eventually(proxy.hasSwallowed, ANSWERED_WITHIN_MS, 'it is met'),
        ]);
        for (const { status, text, ms } of answers) {
          if (!isShed(text)) expect([200, 201, 503]).toContain(status);
          expect(ms).toBeLessThan(ANSWERED_WITHIN_MS);
        }
        proxy.swallowAnswersTo(undefined);
        await eventually(async () => (await gateway.request('/v1/pets')).status === 200, HEALED_WITHIN_MS, 'it heals');
        await eventually(async () => (await create('after')).status === 201, HEALED_WITHIN_MS, 'creates heal');
        for (const number of numbers) {
          await eventually(async () => (await once(number)).status === 201, HEALED_WITHIN_MS, 'a retry is done');
        }
        const rows: { name: string }[] = await gateway.database.knex('pets').select('name');
        const names = rows.map(({ name }) => name);
        expect(names.length).toBe(new Set(names).size);
        for (const number of numbers) expect(names).toContain(`once ${number}`);
        for (const [index, number] of numbers.entries()) {
          if (answers[4 + index]?.status === 201) expect(names).toContain(`plain ${number}`);
        }
        await gateway.close();
      },
    );
  });
});

async function timed(
  answer: Promise<Answer>,
  startedAt: number,
): Promise<Pick<Answer, 'status' | 'text'> & { ms: number }> {
  const { status, text } = await answer;
  return { status, text, ms: msSince(startedAt) };
}
