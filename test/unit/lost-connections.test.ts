import { expect, test } from 'vitest';
import { watchForLost } from '../../src/database/mysql/lost-connections.ts';
import type { MysqlSession } from '../../src/database/mysql/mysql-session.ts';
import { eventually } from '../support/load.ts';

/** A session that waits for its answer, as far as the watch looks at it, and why it was destroyed. */
function waitingSession() {
  const destroyed: Error[] = [];
  const connection = { threadId: 7, stream: { destroy: (reason: Error) => void destroyed.push(reason) } };
  const session = { connection, identity: 'a' } as unknown as MysqlSession; // no other part of it is read
  return { waiting: { session, since: performance.now() }, destroyed };
}

test.each([
  ['no answer', {}],
  ['the system cannot reach it', { errno: -113, code: 'EHOSTUNREACH' }],
])(
  'who waits for a server that says nothing any more is told, however late its deadline is: %s',
  async (why, fields) => {
    const { waiting, destroyed } = waitingSession();
    const stop = watchForLost(
      () => [waiting],
      () => Promise.reject(Object.assign(new Error(why), fields)),
      () => {},
      500,
    );
    await eventually(() => destroyed.length > 0, 5000, 'it is told');
    stop();
    expect(destroyed[0]).toMatchObject({ code: 'POOL_TIMEOUT' });
  },
);

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

/** A session on which to ask which of the server's threads are busy; a proxy gives ids that no thread has. */
function askingSession(threadId: number, busy: readonly number[]) {
  let asked = 0;
  const connection = {
    threadId,
    query: (_query: object, answer: (error: null, rows: object[]) => void) => {
      asked++;
      answer(
        null,
        busy.map((id) => ({ id })),
      );
    },
    end() {},
    stream: { destroy() {} },
  };
  const session = { connection, identity: 'a' } as unknown as MysqlSession; // no other part of it is read
  return { open: () => Promise.resolve(session), asked: () => asked };
}

test.each([
  ['the server does nothing for it: lost', askingSession(8, [8]), 1],
  ['the server is at work for it', askingSession(8, [7, 8]), 0],
  ['a proxy gave the ids: nobody knows', askingSession(1008, [3]), 0],
])('a statement without an answer; %s', async (_what, { open, asked }, expected) => {
  const { waiting, destroyed } = waitingSession();
  const stop = watchForLost(
    () => [waiting],
    open,
    () => {},
    60_000,
  );
  await eventually(() => asked() > 3, 10_000, 'it is asked');
  stop();
  expect(destroyed.length > 0 ? 1 : 0).toBe(expected);
});
