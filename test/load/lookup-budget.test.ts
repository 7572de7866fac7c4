import { expect, test } from 'vitest';
import { createLookupBudget } from '../../src/load/lookup-budget.ts';

test('a thousand at the most wait until it is learnt which keys there are: what waits costs memory, and then time', async () => {
  const never = () => new Promise<never>(() => {});
  const lookUp = createLookupBudget({ hashesCreatedSince: never, isValid: () => true }, () => 0);
  let refused = 0;
  for (let n = 0; n < 1500; n++) lookUp(`made up ${n}`, never).catch(() => refused++);
  await new Promise(setImmediate);
  expect(refused).toBe(1500 - 1000 - 20); // these are looked up
});

test('what is learnt again goes back some minutes before the last time: the clocks of two gateways differ', async () => {
  const since: number[] = [];
  let moment = 0;
  const keys = {
    async hashesCreatedSince(from: Date) {
      since.push(from.getTime());
      return [];
    },
    isValid: () => true,
  };
  const lookUp = createLookupBudget(keys, () => moment);
  const never = () => new Promise<never>(() => {});
  const spend = (hash: string) => void lookUp(hash, never).catch(() => {});
  for (let n = 0; n < 21; n++) spend(`made up ${n}`); // more than may be under way
  await new Promise(setImmediate);
  moment = 1000;
  spend('another one');
  await new Promise(setImmediate);
  expect(since).toHaveLength(2);
  expect(since[0]).toBeLessThan(0);
  expect(since[1]).toBeLessThanOrEqual(Date.now() - 300_000);
  expect(since[1]).toBeGreaterThan(Date.now() - 400_000);
});

test('a key that was found and is not valid is looked up as an unknown one', async () => {
  const keys = { hashesCreatedSince: async () => [], isValid: ({ valid }: { valid: boolean }) => valid };
  const lookUp = createLookupBudget(keys, () => 0);
  const ask = (hash: string, valid: boolean) => lookUp(hash, async () => ({ valid }));
  await ask('revoked', false);
  await ask('good', true);
  const never = () => new Promise<never>(() => {});
  for (let n = 0; n < 20; n++) lookUp(`made up ${n}`, never).catch(() => {}); // all that may be under way
  await new Promise(setImmediate);
  await expect(ask('revoked', false)).rejects.toMatchObject({ code: 'too_many_requests' });
  expect(await ask('good', true)).toEqual({ valid: true });
});
