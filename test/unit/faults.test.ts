import { describe, expect, it, test } from 'vitest';
import {
  isDuplicate,
  isHostLost,
  isLockWait,
  isRefused,
  type Repeat,
  withoutFaults,
} from '../../src/database/faults.ts';
import { deadlineIn } from '../../src/deadline.ts';
import { DatabaseFault, toApiError } from '../../src/errors.ts';

const serverError = (errno: number, message = 'said the server') => Object.assign(new Error(message), { errno });

describe('what a fault of the database is to a client', () => {
  const said = new Error('said the driver');

  test.each([
    ['unavailable', 503, 'The service is temporarily unavailable; try again shortly.', { 'Retry-After': '1' }],
    ['noWriter', 503, 'The service is temporarily unavailable; try again shortly.', { 'Retry-After': '1' }],
    ['tooLarge', 413, 'The database takes no value of this length.', {}],
  ] as const)("%s is %i, and the cause is the driver's own error", (meaning, status, message, headers) => {
    const refusal = toApiError(new DatabaseFault(meaning, said));
    expect(refusal).toMatchObject({ status, message, headers, cause: said });
  });
});

describe('what an error of the database means', () => {
  it.each([
    ['TiDB', [8002, 8022, 8028, 9001, 9002, 9003, 9004, 9005, 9006, 9007]],
    ['Group Replication', [3100, 3101, 3797]],
    ['MySQL', [1158, 1206, 1461, 1615]],
    ['what operations do', [1044, 1054, 1142, 1143, 1146, 1176, 1227, 1364]],
  ])('%s: "not now" is 503', async (_engine, numbers) => {
    for (const errno of numbers) {
      const failing = withoutFaults(() => Promise.reject(serverError(errno)), deadlineIn());
      await expect(failing, String(errno)).rejects.toMatchObject({ meaning: 'unavailable' });
    }
  });

  test('SQLite: what is wrong with the schema is, what is wrong with a statement is not', async () => {
    const said = (message: string) => Object.assign(new Error(message), { errcode: 1 });
    const failing = (message: string) => withoutFaults(() => Promise.reject(said(message)), deadlineIn());
    for (const message of ['no such table: pets', 'no such column: tag', 'table pets has no column named tag']) {
      await expect(failing(message), message).rejects.toMatchObject({ meaning: 'unavailable' });
    }
    await expect(failing('near "SELEC": syntax error')).rejects.toMatchObject({ errcode: 1 });
  });

  test('Vitess: by its words', async () => {
    const failing = (message: string) => withoutFaults(() => Promise.reject(serverError(1105, message)), deadlineIn());
    await expect(
      failing('target: pets.0.primary: vttablet: rpc error: code = Unavailable desc = x'),
    ).rejects.toMatchObject({
      meaning: 'unavailable',
    });
    await expect(failing('something else')).rejects.toMatchObject({ errno: 1105 });
  });

  test('that no server takes writes is told apart', async () => {
    const refused = Object.assign(new Error('both are read-only'), { code: 'POOL_NO_WRITER' });
    const failing = withoutFaults(() => Promise.reject(refused), deadlineIn());
    await expect(failing).rejects.toMatchObject({ meaning: 'noWriter', cause: refused });
  });

  test('a fault of ours stays one', async () => {
    await expect(withoutFaults(() => Promise.reject(serverError(1064)), deadlineIn())).rejects.toMatchObject({
      errno: 1064,
    });
  });

  const lost = Object.assign(new Error('the connection is gone'), { code: 'PROTOCOL_CONNECTION_LOST', fatal: true });
  const refused = Object.assign(new Error('nobody listens'), { code: 'ECONNREFUSED', fatal: true });
  const silent = Object.assign(new Error('no answer in time'), { code: 'POOL_TIMEOUT', fatal: true });

  // How often work that always fails so is begun: as a read, as what does no harm twice, as any write.
  test.each([
    ['rolled back in favour of another (1213)', serverError(1213), [4, 4, 4]],
    ['rolled back by its group (3101)', serverError(3101), [4, 4, 4]],
    ['stopped by a member that has left its group (3100)', serverError(3100), [4, 4, 1]],
    ['refused by a server that takes no writes (1290)', serverError(1290), [2, 2, 2]],
    ['refused by a node without its cluster (1047)', serverError(1047), [2, 2, 2]],
    ['a statement that must be prepared anew (1615)', serverError(1615), [2, 2, 2]],
    ['stopped with its server (1053)', serverError(1053), [2, 2, 1]],
    ['killed (1317)', serverError(1317), [2, 2, 1]],
    ['killed (1927)', serverError(1927), [2, 2, 1]],
    ['the connection is lost', lost, [2, 2, 1]],
    ['no connection can be opened', refused, [1, 1, 1]],
    ['no answer in time', silent, [1, 1, 1]],
    ['a disk that is full (1021)', serverError(1021), [1, 1, 1]],
    ['a duplicate (1062)', serverError(1062), [1, 1, 1]],
  ])('%s: what may be done again is', async (_what, error, expected) => {
    const begun = async (repeat: Repeat, ms?: number) => {
      let runs = 0;
      const work = () => {
        runs++;
        return Promise.reject(error);
      };
      await expect(withoutFaults(work, deadlineIn(ms), repeat)).rejects.toBeDefined();
      return runs;
    };
    expect([await begun('read'), await begun('repeatable'), await begun('write')]).toEqual(expected);
    expect([await begun('repeatable', 100), await begun('write', 100), await begun('read', 0)]).toEqual([1, 1, 1]);
  });

  test('what is done again and succeeds is done', async () => {
    let runs = 0;
    const work = () => (++runs < 3 ? Promise.reject(serverError(1213)) : Promise.resolve('done'));
    expect(await withoutFaults(work, deadlineIn())).toBe('done');
  });

  test('refused is what the server says in its own words, or what is too large', () => {
    const said = (errno: number) => Object.assign(serverError(errno), { sqlState: '22001' });
    const away = new DatabaseFault('unavailable', said(1213));
    const large = new DatabaseFault('tooLarge');
    expect([said(1406), large, away, new Error('ours')].map(isRefused)).toEqual([true, true, false, false]);
    // Vitess has this number for all it does not know, a lost connection among them.
    expect(isRefused(said(1105))).toBe(false);
  });

  test("what a proxy's own client library met leaves the outcome open", async () => {
    for (const errno of [2006, 2013, 2055]) {
      const passedOn = Object.assign(serverError(errno, 'Lost connection'), { sqlState: 'HY000' });
      const failing = withoutFaults(() => Promise.reject(passedOn), deadlineIn(), 'repeatable');
      const error = await failing.catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ meaning: 'unavailable' });
      expect(isRefused(error)).toBe(false);
    }
  });

  test('a value that the server does not take is the fault of who sent it', async () => {
    const failing = withoutFaults(() => Promise.reject(serverError(1153)), deadlineIn());
    await expect(failing).rejects.toMatchObject({ meaning: 'tooLarge' });
  });

  test.each(['EAI_AGAIN', 'EAI_FAIL', 'ENOTFOUND', 'ECONNREFUSED', 'PROTOCOL_CONNECTION_LOST'])(
    '%s: the database is away',
    async (code) => {
      const failing = withoutFaults(() => Promise.reject(Object.assign(new Error(code), { code })), deadlineIn());
      await expect(failing).rejects.toMatchObject({ meaning: 'unavailable' });
    },
  );

  test('the readers agree with the table', () => {
    expect([isDuplicate(serverError(1062)), isLockWait(serverError(1205))]).toEqual([true, true]);
    expect([isHostLost(serverError(1290)), isHostLost(serverError(1047)), isHostLost(serverError(1213))]).toEqual([
      true,
      true,
      false,
    ]);
  });
});
