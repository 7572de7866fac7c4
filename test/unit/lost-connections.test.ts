import { expect, test } from 'vitest';
import { watchForLost } from '../../src/database/lost-connections.ts';
import type { MysqlSession } from '../../src/database/mysql-session.ts';
import { eventually } from '../support/load.ts';

/** A session that waits for its answer, as far as the watch looks at it, and why it was destroyed. */
function waitingSession() {
  const destroyed: Error[] = [];
  const connection = { stream: { destroy: (reason: Error) => void destroyed.push(reason) } };
  const session = { connection, identity: 'a' } as unknown as MysqlSession; // no other part of it is read
  return { waiting: { session, since: performance.now() }, destroyed };
}

test('who waits for a server that says nothing any more is told, however late its deadline is', async () => {
  const { waiting, destroyed } = waitingSession();
  const stop = watchForLost(
    () => [waiting],
    () => Promise.reject(new Error('no answer')),
    () => {},
    500,
  );
  await eventually(() => destroyed.length > 0, 5000, 'it is told');
  stop();
  expect(destroyed[0]).toMatchObject({ code: 'POOL_TIMEOUT' });
});

test('a server that refuses another connection is at work: its answer is waited for', async () => {
  const { waiting, destroyed } = waitingSession();
  let asked = 0;
  const refuse = () => {
    asked++;
    return Promise.reject(Object.assign(new Error('Too many connections'), { errno: 1040 }));
  };
  const stop = watchForLost(
    () => [waiting],
    refuse,
    () => {},
    100,
  );
  await eventually(() => asked > 3, 10_000, 'it is asked');
  stop();
  expect(destroyed).toEqual([]);
});
