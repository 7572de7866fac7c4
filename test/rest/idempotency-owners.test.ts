import { expect, test } from 'vitest';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { describeEachEngine } from '../support/engines.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { prepareDatabase } from '../support/prepared.ts';

const PET = { name: 'Rex', categoryId: 1 };
const HOUR_MS = 3_600_000;

/** Creates with an API key; the id, and whether it was there already. */
async function post(gateway: TestGateway, apiKey: string, idempotencyKey: string) {
  const headers = { authorization: `Bearer ${apiKey}`, 'idempotency-key': idempotencyKey };
  const answer = await gateway.createPet(PET, headers);
  expect(answer.status).toBe(201);
  return [String(answer.json.id), answer.headers.has('idempotency-replayed')] as const;
}

describeEachEngine('Idempotency-Key › rotated API keys', (engine) => {
  test('a key has the records of those that it replaced, and they have its own, while the gateway runs', async () => {
    const { url, keys, key: first, keyId } = await prepareDatabase(engine);
    const gateway = await startGateway(engine, { DATABASE_URL: url });
    const [id] = await post(gateway, first, 'one');
    // By another process, as commands do; the second one ends by itself.
    const second = (await keys.rotate(keyId as Int64, HOUR_MS))?.created; // the database's own ids, as below
    expect(await post(gateway, second?.key ?? '', 'one')).toEqual([id, true]);
    const third = (await keys.rotate((second?.id ?? '') as Int64, HOUR_MS))?.created;
    expect(await post(gateway, third?.key ?? '', 'one')).toEqual([id, true]);
    const [later] = await post(gateway, third?.key ?? '', 'two');
    for (const { key } of [{ key: first }, second ?? { key: '' }]) {
      expect(await post(gateway, key, 'two')).toEqual([later, true]);
    }
    expect(await gateway.database.knex('pets').select('id')).toHaveLength(2);
    const { key: stranger } = await keys.create({ name: 'test', expiresAt: null });
    expect((await post(gateway, stranger, 'one'))[1]).toBe(false);
  });

  // Again where a busy machine is too late for all of them.
  test('at the same time under both keys and to two gateways, one animal is made', { retry: 2 }, async () => {
    const { url, keys, key, keyId } = await prepareDatabase(engine);
    const gateways = [
      await startGateway(engine, { DATABASE_URL: url }),
      await startGateway(engine, { DATABASE_URL: url }),
    ];
    const successor = (await keys.rotate(keyId as Int64, HOUR_MS))?.created; // the database's own id
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        gateways[index % 2]?.createPet(PET, {
          authorization: `Bearer ${index % 4 < 2 ? key : successor?.key}`,
          'idempotency-key': 'same',
        }),
      ),
    );
    const created = answers.filter((answer) => answer?.status === 201);
    expect(new Set(created.map((answer) => answer?.text)).size).toBe(1);
    for (const answer of answers) expect([201, 409, 503]).toContain(answer?.status);
    expect(await gateways[0]?.database.knex('pets').select('id')).toHaveLength(1);
  });
});
