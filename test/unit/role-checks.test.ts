import type { Connection } from 'mysql2';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ConnectionPool } from '../../src/database/mysql/connection-pool.ts';
import type { MysqlSession, Role } from '../../src/database/mysql/mysql-session.ts';
import { checkRoles, isAlive, toPooled } from '../../src/database/mysql/role-checks.ts';
import { deadlineIn } from '../../src/deadline.ts';
import { ROLE_KNOWN_MS, ROLE_LIMIT_MS, ROLE_TRUSTED_MS } from '../../src/deadlines.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());
const pass = (ms: number) => void vi.advanceTimersByTime(ms);

const connection = { stream: { writable: true } } as unknown as Connection; // all that is asked of it

function sessionOf(identity: string | undefined, role: Role = 'writable') {
  const session: MysqlSession = {
    connection,
    role,
    askedAt: performance.now(),
    identity,
    roleSql: '',
    members: undefined,
  };
  return session;
}

/** A pool of one connection; what was done is told in order, and its server answers with what `answer` gives. */
function checkedPool(answer: () => Promise<boolean> = async () => true) {
  const done: string[] = [];
  const session = toPooled(sessionOf('a'), undefined);
  let suspectBefore = 0;
  const pool = {
    acquire: async () => connection,
    release: () => void done.push('released'),
    abandon: () => void done.push('abandoned'),
  } as unknown as ConnectionPool<Connection>; // all that the checks use
  const { acquire, release } = checkRoles(pool, {
    sessionOf: () => session,
    suspectBefore: () => suspectBefore,
    askRole(_session, limitMs) {
      done.push(`asked ${limitMs}`);
      return answer();
    },
  });
  return {
    done,
    acquire,
    release,
    suspectAll() {
      suspectBefore = performance.now() + 1;
    },
  };
}

test('a server is asked again beside the requests once its answer is old, and its connection is free after that', async () => {
  const { done, release } = checkedPool();
  pass(ROLE_KNOWN_MS);
  release(connection);
  expect(done).toEqual(['released']);
  pass(1);
  release(connection);
  release(connection); // another one's: asked a moment ago
  expect(done).toEqual(['released', `asked ${ROLE_LIMIT_MS}`, 'released']);
  await vi.waitFor(() => expect(done).toHaveLength(4));
  expect(done.at(-1)).toBe('released');
});

test('a server is asked before a request when its last answer is too old, or its connection may be dead', async () => {
  const { done, acquire, suspectAll } = checkedPool();
  pass(ROLE_TRUSTED_MS);
  await acquire(deadlineIn());
  expect(done).toEqual([]);
  pass(1);
  await acquire(deadlineIn());
  await acquire(deadlineIn());
  expect(done).toHaveLength(1);
  suspectAll();
  await acquire(deadlineIn(10));
  expect(done.at(-1)).toBe('asked 10');
});

test.each([
  ['says that it takes no writes', async () => false],
  ['does not answer', () => Promise.reject(new Error('silence'))],
])('a server that %s loses all connections', async (_what, answer) => {
  const { done, release } = checkedPool(answer);
  pass(ROLE_KNOWN_MS + 1);
  release(connection);
  await vi.waitFor(() => expect(done).toHaveLength(3));
  expect(done).toEqual([`asked ${ROLE_LIMIT_MS}`, 'abandoned', 'released']);
});

test('sessions of one server share what is known of it, and one on a read-only server is soon opened anew', () => {
  const first = toPooled(sessionOf('a'), undefined);
  pass(100);
  expect(toPooled(sessionOf('a'), first).server).toBe(first.server);
  expect(first.server).toEqual({ askedAt: performance.now(), writableAt: performance.now() });
  expect(toPooled(sessionOf('b'), first).server).not.toBe(first.server);
  const unnamed = toPooled(sessionOf(undefined), first);
  expect(toPooled(sessionOf(undefined), unnamed).server).not.toBe(unnamed.server);
  const readOnly = toPooled(sessionOf('a', 'read-only'), first);
  pass(249);
  expect([isAlive(readOnly), isAlive(first), isAlive(undefined)]).toEqual([true, true, false]);
  pass(1);
  expect(isAlive(readOnly)).toBe(false);
  pass(24 * 60_000 - 350);
  expect(isAlive(first)).toBe(true);
  pass(13 * 60_000);
  expect(isAlive(first)).toBe(false);
});
