import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { connectDatabase } from '../../src/gateway/database/connect.ts';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';
import { temporaryFolder } from '../support/engines.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a log that goes away after the first read of a young process is noticed by the next check', async () => {
  vi.useFakeTimers({ toFake: ['performance'] }); // its time begins with 0
  const file = join(temporaryFolder(), 'young.sqlite');
  const database = await connectDatabase({ databaseUrl: `sqlite:${file}`, databasePoolMax: 1 });
  const read = () => database.query('SELECT 1 AS one', [], deadlineIn(5000));
  expect(await read()).toEqual([{ one: 1 }]);
  rmSync(`${file}-wal`);
  vi.advanceTimersByTime(300);
  await expect(read()).rejects.toMatchObject({ name: 'DatabaseFault' });
  await database.close();
});
