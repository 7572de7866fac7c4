import { afterEach, expect, test, vi } from 'vitest';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';

const TEN_MINUTES_MS = 600_000;
const DAY_MS = 86_400_000;

afterEach(() => void vi.useRealTimers());

test('a gateway takes old idempotency records away every ten minutes, until it is closed', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const gateway = await startGateway(SQLITE);
  const records = () => gateway.database.knex('idempotency_keys').select('id');
  const addOld = async () => {
    expect((await gateway.createPet({ name: 'Rex', categoryId: 1 }, { 'Idempotency-Key': 'old' })).status).toBe(201);
    await gateway.database.knex('idempotency_keys').update({ created_at: Date.now() - DAY_MS - 1 });
  };
  for (let round = 0; round < 2; round++) {
    await addOld();
    vi.advanceTimersByTime(TEN_MINUTES_MS - 1);
    expect(await records()).toHaveLength(1);
    vi.advanceTimersByTime(1);
    await eventually(async () => (await records()).length === 0, 10_000, 'it is taken away');
  }
  await gateway.close();
  vi.advanceTimersByTime(TEN_MINUTES_MS);
  await new Promise((resolve) => setImmediate(resolve));
  expect(gateway.logs.filter(({ level }) => Number(level) >= 40)).toEqual([]);
});
