import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { deadlineIn } from '../../../src/lib/deadline/deadline.ts';
import { meaningsOf } from '../../../src/lib/mysql-errors/mysql-errors.ts';
import { parseMysqlAddress } from '../../../src/lib/mysql-pool/mysql-address.ts';
import { createConnection, type MysqlConnection } from '../../../src/lib/mysql-pool/mysql-connection.ts';
import type { MysqlSession, Role } from '../../../src/lib/mysql-pool/mysql-session.ts';
import { createSessionPool, type PoolEntry } from '../../../src/lib/mysql-pool/session-pool.ts';
import { startSilent } from '../../support/served-app.ts';
import { TIMES } from './pool-settings.ts';

// Nothing is asked on these connections: somebody listens, and says nothing.
const port = await startSilent();
const address = parseMysqlAddress(`mysql://root@127.0.0.1:${port}/petstore`);
const opened: MysqlConnection[] = [];
const openConnection = () => {
  const target = { host: '127.0.0.1', address: '127.0.0.1', port };
  const connection = createConnection(address, target, TIMES.connectionEndMs);
  opened.push(connection);
  return connection;
};
afterAll(() => {
  for (const connection of opened) connection.destroy(new Error('the test is over'));
});

beforeEach(
  () =>
    void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }),
);
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

const roundTrip = { ms: () => 0, measure: async <Result>(work: () => PromiseLike<Result>) => work() };

/** What the pool does not ask of a session here. */
const UNUSED = { lockMs: 1000, packetBytes: 1024, idRule: undefined };

/** How an opening goes: after so many ms it fails, or leads to a server. */
interface Opening {
  readonly ms: number;
  readonly fails?: boolean;
  readonly identity?: string;
  readonly role?: Role;
  readonly isSurelyUndone?: (limitMs: number) => Promise<boolean>;
}

/** A pool whose connections are called 1, 2 and so on; `answers` tells what servers say when they are asked for their role. */
function poolOf(max: number, openings: readonly Opening[] = [], answers: () => Promise<boolean> = async () => true) {
  const names = new Map<unknown, number>();
  const ended: number[] = [];
  const checked: string[] = [];
  let count = 0;
  const pool = createSessionPool({
    max,
    times: TIMES,
    roundTrip,
    open: async () => {
      const name = ++count;
      const { ms, fails, identity = 'a', role = 'writable', isSurelyUndone } = openings[name - 1] ?? { ms: 1 };
      await new Promise((resolve) => setTimeout(resolve, ms));
      if (fails) throw new Error(`refused ${name}`);
      const connection = Object.assign(openConnection(), { end: () => void ended.push(name) });
      names.set(connection, name);
      const stillTakesWrites = (limitMs: number) => {
        checked.push(`${name} within ${limitMs}`);
        return answers();
      };
      return {
        ...UNUSED,
        connection,
        role,
        identity,
        checkedAt: performance.now(),
        stillTakesWrites,
        isSurelyUndone,
      } satisfies MysqlSession;
    },
  });
  /** Asks for a connection: what it got, by name, or why not. */
  const ask = (ms = 60_000) => {
    const asked: { session?: PoolEntry; got?: number | undefined; refusal?: string } = {};
    void pool.acquire(deadlineIn(ms)).then(
      (session) => Object.assign(asked, { session, got: names.get(session.connection) }),
      (error: Error) => Object.assign(asked, { refusal: error.message }),
    );
    return asked;
  };
  const giveBack = ({ session }: ReturnType<typeof ask>) => pool.release(session as PoolEntry); // where it is there
  const lose = ({ session }: ReturnType<typeof ask>) => session?.connection.destroy(new Error('it is broken'));
  /** What becomes of a use that fails with this error. */
  const fail = (asked: ReturnType<typeof ask>, error: object, ms = 5000) =>
    pool
      .runOn(asked.session as PoolEntry, deadlineIn(ms), () => Promise.reject(error))
      .catch((thrown: unknown) => thrown);
  /** Asks for a connection, and lets it open. */
  const lent = async () => {
    const asked = ask();
    await pass(10);
    return asked;
  };
  /** Opens so many connections, and gives them back. */
  const openIdle = async (connections: number) => {
    const all = Array.from({ length: connections }, () => ask());
    await pass(10);
    for (const asked of all) giveBack(asked);
    return all;
  };
  const failBesideIdle = async (error: object) => {
    const [first, second] = [ask(), ask()];
    await pass(10);
    giveBack(second);
    await fail(first, error);
    giveBack(first);
  };
  return { pool, ask, lent, giveBack, lose, fail, openIdle, failBesideIdle, ended, checked, openings: () => count };
}

test('a connection that ends rejects the uses that are under way, whichever of them settled before', async () => {
  const connection = openConnection();
  const first = Promise.withResolvers<string>();
  const uses = [first, Promise.withResolvers<string>()].map(({ promise }) =>
    connection.exchange(deadlineIn(5000), () => promise),
  );
  first.resolve('answered');
  expect(await uses[0]).toBe('answered');
  connection.destroy(new Error('it is broken'));
  await expect(uses[1]).rejects.toThrow('it is broken');
});

test('a command on a connection that has failed is refused at once, with the reason, and not sent', async () => {
  const { exchange, destroy } = openConnection();
  const reason = new Error('the server is not the one that it was');
  destroy(reason);
  const send = vi.fn(() => new Promise<never>(() => {})); // mysql2 need not call back
  await expect(exchange(deadlineIn(1000), send)).rejects.toBe(reason);
  expect(send).not.toHaveBeenCalled();
});

describe('a connection of the pool', () => {
  test('is ended when nobody has used it for half a minute', async () => {
    const { pool, ask, giveBack, openIdle, ended } = poolOf(2);
    await openIdle(2);
    await pass(20_000);
    const again = ask();
    await pass(0);
    giveBack(again);
    await pass(25_000);
    expect([ended, pool.state().free]).toEqual([[1], 1]);
    await pass(15_000);
    expect(ended).toEqual([1, 2]);
  });

  test('is ended with all others that nobody has used', async () => {
    const { pool, openIdle, ended } = poolOf(3);
    await openIdle(3);
    await pass(45_000);
    expect([ended, pool.state().free]).toEqual([[1, 2, 3], 0]);
  });

  test('is ended when it is found too old, with all others of its age', async () => {
    const { lent, openIdle, ended } = poolOf(2, Array(2).fill({ ms: 1, role: 'read-only' }));
    await openIdle(2);
    await pass(300);
    const next = await lent();
    expect([ended, next.got]).toEqual([[2, 1], 3]);
  });

  test('is not lent again when it is broken', async () => {
    const { ask, lent, giveBack, lose, ended } = poolOf(1);
    const first = await lent();
    const second = ask();
    lose(first);
    giveBack(first);
    await pass(200);
    expect([ended, second.got]).toEqual([[1], 2]);
  });

  test.each([
    ['was killed (MariaDB)', { errno: 1927, sqlState: '70100' }, 'unknownOutcome'],
    ['was killed, or its statement (MySQL)', { errno: 1317, sqlState: '70100' }, 'unknownOutcome'],
    ['was killed (MySQL)', { errno: 3169, sqlState: 'HY000' }, 'unknownOutcome'],
    ['waited too long', { errno: 4031, sqlState: 'HY000' }, 'unknownOutcome'],
    ['could not be read', { errno: 1158, sqlState: '08S01' }, 'unknownOutcome'],
    ['got too large a packet', { code: 'ER_NET_PACKET_TOO_LARGE', errno: 1153, sqlState: '08S01' }, 'tooLarge'],
  ] as const)('is not lent again when its session %s; the others are', async (_what, error, meaning) => {
    const { pool, ask, lent, giveBack, fail, openIdle, ended } = poolOf(2);
    await openIdle(2);
    const first = await lent();
    expect(meaningsOf(await fail(first, error))).toContain(meaning);
    giveBack(first);
    expect([ended, pool.state().free]).toEqual([[2], 1]);
    const next = ask();
    await pass(0);
    expect(next.got).toBe(1);
  });

  test.each([
    ['writable', 24 * 60_000 - 1, 12 * 60_000 + 2],
    ['read-only', 240, 20],
  ] as const)('on a server that is %s has a maximum lifetime', async (role, usableMs, longerMs) => {
    const { ask, giveBack } = poolOf(1, [{ ms: 1, role }]);
    /** Uses a connection again and again until so many ms have passed; gives the name of the last one. */
    const useFor = async (ms: number) => {
      for (const until = performance.now() + ms; ; ) {
        const asked = ask();
        await pass(1);
        giveBack(asked);
        await pass(0);
        if (performance.now() >= until) return asked.got;
        await pass(Math.min(10_000, until - performance.now() - 1));
      }
    };
    expect(await useFor(usableMs)).toBe(1);
    expect(await useFor(longerMs)).toBeGreaterThan(1);
  });

  test('is not given to a caller without time, who spoils none', async () => {
    const { pool, ask, lent, giveBack, ended } = poolOf(1);
    const first = await lent();
    giveBack(first);
    const late = ask(-1);
    await pass(0);
    expect([late.refusal, ended]).toEqual(['no time is left for a connection', []]);
    expect(pool.state()).toEqual({ used: 0, free: 1, waiting: 0 });
  });
});

describe('a new generation', () => {
  const READ_ONLY = { code: 'ER_OPTION_PREVENTS_STATEMENT', errno: 1290, sqlState: 'HY000' };

  test('ends idle ones at once, one in use after its use, one that is being opened when it comes', async () => {
    const { ask, giveBack, fail, ended } = poolOf(3, [{ ms: 1 }, { ms: 1 }, { ms: 50 }]);
    const [first, second] = [ask(), ask()];
    await pass(10);
    const third = ask(5);
    await pass(5);
    giveBack(second);
    await fail(first, READ_ONLY);
    expect([third.got, ended]).toEqual([undefined, [2]]);
    giveBack(first);
    expect(ended).toEqual([2, 1]);
    await pass(50);
    expect(ended).toEqual([2, 1, 3]);
  });

  test.each([
    ['a server that takes no writes', READ_ONLY, true],
    ['a server that is no member of its cluster', { errno: 1047, sqlState: '08S01' }, true],
    ['rights that the session lacks', { errno: 1142, sqlState: '42000' }, true],
    ['a table that is away', { errno: 1146, sqlState: '42S02' }, false],
  ])('begins with an error of %s: %o', async (_what, error, begins) => {
    const { failBesideIdle, ended } = poolOf(2);
    await failBesideIdle(error);
    expect(ended).toEqual(begins ? [2, 1] : []);
  });

  test('tells each later use of the connection, such as a ROLLBACK, why it was refused', async () => {
    const { pool, lent, fail } = poolOf(1);
    const first = await lent();
    await fail(first, READ_ONLY);
    const rollingBack = pool.runOn(first.session as PoolEntry, deadlineIn(5000), async () => {});
    const error = await rollingBack.catch((thrown: unknown) => thrown);
    expect(meaningsOf(error)).toEqual(meaningsOf(READ_ONLY));
  });

  test.each([
    ['says that it takes none', async () => false, READ_ONLY],
    ['says that it takes them', async () => true, { code: 'POOL_NOT_UNDERSTOOD', cause: READ_ONLY }],
    ['says nothing', () => Promise.reject(new Error('silence')), { code: 'POOL_NOT_UNDERSTOOD', cause: READ_ONLY }],
  ])(
    'a server that is asked whether it takes writes, after it has refused one, %s',
    async (_what, answer, expected) => {
      const { lent, fail, checked } = poolOf(1, [], answer);
      const asked = await lent();
      expect(await fail(asked, READ_ONLY, 300)).toMatchObject(expected);
      expect([checked, asked.session?.connection.isOpen()]).toEqual([['1 within 300'], false]);
    },
  );

  test('does not begin when a server that was known to be read-only refuses a write', async () => {
    const { failBesideIdle, ended } = poolOf(2, Array(2).fill({ ms: 1, role: 'read-only' }));
    await failBesideIdle(READ_ONLY);
    expect(ended).toEqual([]);
  });

  test('begins once a second at most for missing rights', async () => {
    const { ask, giveBack, fail, openings } = poolOf(1);
    for (const step of ['0 1', '500 2', '400 2', '200 2', '0 3']) {
      const [ms = 0, opened] = step.split(' ').map(Number);
      await pass(ms);
      const asked = ask();
      await pass(1);
      expect(openings()).toBe(opened);
      await fail(asked, { errno: 1142, sqlState: '42000' });
      giveBack(asked);
    }
  });

  test('begins once a second at most for writes that a server refuses although it says that it takes them', async () => {
    const { pool, ask, giveBack, fail, ended } = poolOf(2);
    for (const step of ['0 ends', '900 stays', '200 ends']) {
      const [ms, becomes] = step.split(' ');
      await pass(Number(ms));
      const [refused, idle] = [ask(), ask()];
      await pass(10);
      giveBack(idle);
      await fail(refused, READ_ONLY);
      expect(pool.state()).toEqual({ used: 1, free: becomes === 'ends' ? 0 : 1, waiting: 0 });
      giveBack(refused);
      expect(ended).toContain(refused.got); // its connection ends in any case
    }
  });

  test('does not begin for what is said on a connection of an earlier one', async () => {
    const { pool, ask, lent, giveBack, fail } = poolOf(3);
    const both = [ask(), ask()] as const;
    await pass(10);
    await fail(both[0], READ_ONLY);
    await pass(1100);
    const next = await lent();
    giveBack(next);
    await fail(both[1], READ_ONLY);
    expect([next.got, pool.state().free]).toEqual([3, 1]);
  });

  test('begins when another server answers at the address', async () => {
    const { ask, lent, giveBack, ended } = poolOf(2, [{ ms: 1 }, { ms: 50, identity: 'b' }]);
    const first = await lent();
    const second = ask();
    giveBack(first);
    await pass(100);
    expect(second.got).toBe(1);
    giveBack(second);
    const third = ask();
    await pass(0);
    expect([ended, third.got]).toEqual([[1], 2]);
  });

  test('lends none that was asked for its role meanwhile, whatever its server answers', async () => {
    const check = Promise.withResolvers<boolean>();
    const { pool, ask, openIdle, ended } = poolOf(2, [{ ms: 1 }, { ms: 1, identity: 'b' }], () => check.promise);
    await openIdle(1);
    await pass(TIMES.roleMaxAgeMs + 1);
    const [first, second] = [ask(), ask()];
    await pass(10);
    expect([first.got, second.got]).toEqual([undefined, 2]);
    check.resolve(true);
    await pass(10);
    expect([first.got, ended, pool.state().used]).toEqual([3, [1], 2]);
  });

  test('an answer that the driver could not read ends its connection only', async () => {
    const { failBesideIdle, ended } = poolOf(2);
    await failBesideIdle(new Error('a packet that nobody knows'));
    expect(ended).toEqual([1]);
  });
});

describe('an opening that fails', () => {
  test('rejects all waiters when it is the last one, whatever their number, and none is opened in between', async () => {
    const failing = Array.from({ length: 20 }, (_, index) => ({ ms: 1 + index * 3, fails: true }));
    const { ask, openings } = poolOf(10, failing);
    const asked = Array.from({ length: 50 }, () => ask());
    await pass(50);
    expect(new Set(asked.map(({ refusal }) => refusal))).toEqual(new Set(['refused 10']));
    expect(openings()).toBe(10);
  });

  test('rejects nobody while another one is under way, or a connection is in use', async () => {
    const other = poolOf(2, [{ ms: 50, fails: true }, { ms: 90 }]);
    const [first, second] = [other.ask(), other.ask()];
    await pass(60);
    expect([first, second]).toEqual([{}, {}]);
    await pass(40);
    expect(first.got).toBe(2);

    const shared = poolOf(2, [{ ms: 1 }, { ms: 1, fails: true }]);
    const user = shared.ask();
    await pass(10);
    const next = shared.ask();
    await pass(10);
    expect(next).toEqual({});
    shared.giveBack(user);
    await pass(0);
    expect(next.got).toBe(1);
  });

  test('is followed by another one a little later while a connection is in use', async () => {
    const { ask, openings } = poolOf(2, [{ ms: 1 }, { ms: 1, fails: true }]);
    ask();
    await pass(10);
    const next = ask();
    ask();
    await pass(90);
    expect([next, openings()]).toEqual([{}, 2]);
    await pass(20);
    expect(next.got).toBe(3);
  });

  // Node's timers count whole ms: one of 100 ms may fire after 99.1 of performance.now().
  test('is followed by another one although the timer is early by a part of its last ms', async () => {
    const { ask } = poolOf(2, [{ ms: 1 }, { ms: 1, fails: true }]);
    ask();
    await pass(10.6);
    const next = ask();
    await pass(1); // it fails at 11.6
    await pass(99.5);
    await pass(100);
    expect(next.got).toBe(3);
  });
});

describe('the server of the pool', () => {
  test('is asked again beside the requests once its answer is old; the connection is free after that', async () => {
    const { pool, ask, giveBack, checked } = poolOf(1);
    const first = ask();
    await pass(TIMES.roleIntervalMs);
    giveBack(first);
    expect(checked).toEqual([]);
    const second = ask();
    await pass(2);
    giveBack(second);
    expect([checked, pool.state().used]).toEqual([[`1 within ${TIMES.roleTimeoutMs}`], 1]);
    await pass(0);
    expect(pool.state()).toEqual({ used: 0, free: 1, waiting: 0 });
    const third = ask();
    await pass(0);
    giveBack(third);
    expect([checked.length, pool.state().used]).toEqual([1, 0]); // the answer is new
  });

  test('is asked before a request when its last answer on this connection is too old', async () => {
    const { ask, lent, giveBack, checked } = poolOf(1);
    const first = await lent();
    giveBack(first);
    await pass(TIMES.roleMaxAgeMs - 9);
    const second = ask();
    await pass(0);
    expect([second.got, checked]).toEqual([1, []]);
    giveBack(second);
    await pass(2);
    checked.length = 0;
    await pass(TIMES.roleMaxAgeMs);
    const third = ask(10);
    await pass(0);
    expect([third.got, checked]).toEqual([1, ['1 within 10']]);
  });

  test.each([
    ['says that it takes no writes', async () => false],
    ['does not answer', () => Promise.reject(new Error('silence'))],
  ])('that %s loses all connections', async (_what, answer) => {
    const { lent, openIdle, ended } = poolOf(2, [], answer);
    await openIdle(2);
    await pass(TIMES.roleMaxAgeMs + 1);
    const next = await lent();
    expect([ended, next.got]).toEqual([[1, 2], 3]);
  });

  test('that was given less than its time says nothing about the other connections by its silence', async () => {
    const { ask, lose, openIdle, ended, checked } = poolOf(2, [], async () => {
      if (checked.length > 1) return true;
      for (const other of both.slice(1)) lose(other); // as a deadline does
      throw new Error('silence');
    });
    const both = await openIdle(2);
    await pass(TIMES.roleMaxAgeMs + 1);
    const next = ask(10);
    await pass(1);
    expect([next.got, ended]).toEqual([1, [2]]);
  });

  test('that was left says nothing about the connections that were opened since, by what it answers late', async () => {
    const checks = [Promise.withResolvers<boolean>(), Promise.withResolvers<boolean>()] as const;
    const { pool, ask, lent, giveBack, checked } = poolOf(
      3,
      [],
      () => (checks[checked.length - 1] ?? checks[0]).promise,
    );
    const both = [ask(), ask()];
    await pass(TIMES.roleIntervalMs + 10);
    for (const asked of both) giveBack(asked);
    checks[0].resolve(false);
    await pass(0);
    const next = await lent();
    giveBack(next);
    checks[1].resolve(false);
    await pass(0);
    expect([next.got, checked.length, pool.state().free]).toEqual([3, 2, 1]);
  });

  test.each([true, false])(
    'of Galera may have done what it calls a deadlock while its members change: is it undone? %s',
    async (isUndone) => {
      const { lent, fail } = poolOf(1, [{ ms: 1, isSurelyUndone: async () => isUndone }]);
      const deadlock = Object.assign(new Error('deadlock'), { errno: 1213, sqlState: '40001' });
      const asked = await lent();
      const doubted = { code: 'POOL_NOT_UNDERSTOOD', cause: deadlock };
      expect(await fail(asked, deadlock)).toMatchObject(isUndone ? { errno: 1213 } : doubted);
    },
  );

  test.each([
    ['ends the connections that know earlier members: each would doubt every deadlock', 'changed', [2, 1], 3],
    ['that is not known ends none but its own', 'silent', [2], 1],
  ])('of Galera whose change of members %s', async (_what, members, lost, next) => {
    const isSurelyUndone = async () => {
      if (members === 'silent') lose(first); // as a deadline does
      return false;
    };
    const { lent, giveBack, lose, fail, openIdle, ended } = poolOf(2, Array(2).fill({ ms: 1, isSurelyUndone }));
    await openIdle(2);
    const first = await lent();
    await fail(first, { errno: 1213, sqlState: '40001' });
    giveBack(first);
    expect([ended.toSorted(), (await lent()).got]).toEqual([lost.toSorted(), next]);
  });

  test('of Galera is asked about a deadlock for as long as there is time, a second at most', async () => {
    const limits: number[] = [];
    const isSurelyUndone = async (limitMs: number) => limits.push(limitMs) > 0;
    const { lent, fail } = poolOf(1, [{ ms: 1, isSurelyUndone }]);
    const asked = await lent();
    for (const ms of [5000, 300]) await fail(asked, { errno: 1213, sqlState: '40001' }, ms);
    expect(limits).toEqual([TIMES.roleTimeoutMs, 300]);
  });
});

test('closing waits for those who use or wait, then ends all; nobody gets a connection any more', async () => {
  const { pool, ask, lent, giveBack, ended } = poolOf(1);
  const first = await lent();
  const [second, third] = [ask(), ask(100)];
  let isClosed = false;
  void pool.close().then(() => {
    isClosed = true;
  });
  const fourth = ask();
  await pass(200);
  expect([fourth.refusal, third.refusal]).toEqual([
    'the database has been closed',
    'no connection to the database came free in time',
  ]);
  giveBack(first);
  await pass(0);
  expect([isClosed, second.got, ended]).toEqual([false, 1, []]);
  giveBack(second);
  await pass(0);
  expect([isClosed, ended]).toEqual([true, [1]]);
});

test('closing while a connection is being opened waits for it, and ends it', async () => {
  const { pool, ask, ended } = poolOf(1, [{ ms: 1000 }]);
  const late = ask(20);
  await pass(30);
  expect(late.refusal).toBe('no connection to the database came free in time');
  const closing = pool.close();
  await pass(1000);
  await closing;
  expect(ended).toEqual([1]);
});
