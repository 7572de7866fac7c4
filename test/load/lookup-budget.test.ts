import { expect, test } from 'vitest';
import { deadlineIn } from '../../src/deadline.ts';
import { createLookupBudget } from '../../src/load/lookup-budget.ts';

test('a thousand at the most wait until it is learnt which keys there are: what waits costs memory, and then time', async () => {
  const never = () => new Promise<never>(() => {});
  const budget = createLookupBudget({ hashesCreatedSince: never, isValid: () => true }, () => 0);
  let refused = 0;
  for (let n = 0; n < 1500; n++) budget.spend(`made up ${n}`, never, deadlineIn()).catch(() => refused++);
  await new Promise(setImmediate);
  expect(refused).toBe(1500 - 1000 - 20); // these are looked up
});
