import { expect, test } from 'vitest';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { describeEachEngine } from '../support/engines.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';
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

  test('at the same time under both keys and to two gateways, one animal is made', async () => {
    const { url, keys, key, keyId } = await prepareDatabase(engine);
    const one = await startGateway(engine, { DATABASE_URL: url });
    const two = await startGateway(engine, { DATABASE_URL: url });
    const successor = (await keys.rotate(keyId as Int64, HOUR_MS))?.created; // the database's own id
    const create = (index: number) =>
      (index % 2 === 0 ? one : two).createPet(PET, {
        authorization: `Bearer ${index % 4 < 2 ? key : successor?.key}`,
        'idempotency-key': 'same',
      });
    const told = new Set<string>();
    const areTold = async () => {
      for (const { status, text } of await Promise.all(Array.from({ length: 20 }, (_, index) => create(index)))) {
        expect([201, 409, 503]).toContain(status);
        if (status === 201) told.add(text);
      }
      return told.size > 0;
    };
    // Again where a busy machine is too late for all of them: by then one may be made.
    await eventually(areTold, 60_000, 'one is made');
    expect(told.size).toBe(1);
    expect(await one.database.knex('pets').select('id')).toHaveLength(1);
  });
});
