import { afterEach, expect, test, vi } from 'vitest';
import { createDeprecatedUseStore, createUsage, type DeprecatedUse, dayNumber } from '../../src/gateway/keys/usage.ts';
import { createLog } from '../../src/gateway/log.ts';
import { describeEachEngine } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';
import { openDatabase, prepareDatabase } from '../support/prepared.ts';

const MINUTE_MS = 60_000;
/** For a write; a busy machine takes its time. */
const LIMIT_MS = 30_000;
/** A run may cross midnight: what is counted belongs to this day or to a later one. */
const TODAY = dayNumber(new Date());

const SILENT = createLog('silent', { write() {} });

afterEach(() => void vi.useRealTimers());

describeEachEngine('API keys › usage', (engine) => {
  const prepare = async () => {
    const prepared = await prepareDatabase(engine);
    return { ...prepared, store: createDeprecatedUseStore(prepared.database) };
  };

  test('the last use is written when the gateway stops, and not in the way of requests', async () => {
    const { url, key, keyId, keys } = await prepareDatabase(engine);
    const gateway = await startGateway(engine, { DATABASE_URL: url });
    const updates: string[] = [];
    gateway.database.knex.on('query', ({ sql }: { sql: string }) => {
      if (/^update/i.test(sql)) updates.push(sql);
    });
    const lastUsedAt = async () => (await keys.list()).find(({ id }) => id === keyId)?.lastUsedAt;
    const before = Date.now();
    const headers = { authorization: `Bearer ${key}` };
    for (let round = 0; round < 20; round++) expect((await gateway.request('/v1/pets', { headers })).status).toBe(200);
    const after = Date.now();
    expect(updates).toEqual([]);
    expect(await lastUsedAt()).toBeNull();
    gateway.drain();
    await eventually(() => updates.length === 1, LIMIT_MS, 'a stop begins with it');
    await gateway.close();
    expect(updates).toHaveLength(1);
    expect((await lastUsedAt())?.getTime()).toBeGreaterThanOrEqual(before);
    expect((await lastUsedAt())?.getTime()).toBeLessThanOrEqual(after);
  });

  test('a key in use is written once a minute', async () => {
    const { database, keys, keyId, store } = await prepare();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const usage = createUsage(keys, store, SILENT);
    const updates: string[] = [];
    database.knex.on('query', ({ sql }: { sql: string }) => updates.push(sql));
    for (let use = 0; use < 100; use++) usage.noteUse(keyId);
    vi.advanceTimersByTime(MINUTE_MS - 1);
    expect(updates).toEqual([]);
    vi.advanceTimersByTime(1);
    await eventually(() => updates.length === 1, LIMIT_MS, 'the use is written');
    vi.advanceTimersByTime(MINUTE_MS); // nothing new: nothing to write
    await usage.close(LIMIT_MS);
    expect(updates).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a later use, written by another process, is not taken back', async () => {
    const { keys, keyId } = await prepareDatabase(engine);
    const later = new Date(Date.now() + 5000);
    await keys.noteLastUses(new Map([[keyId, later.getTime()]]));
    await keys.noteLastUses(new Map([[keyId, Date.now()]]));
    expect((await keys.list())[0]?.lastUsedAt).toEqual(later);
  });

  test('use of what is deprecated is counted by key and operation, over both APIs and several gateways', async () => {
    const { url, key, keys, store } = await prepare();
    const { key: otherKey } = await keys.create({ name: 'other', expiresAt: null });
    const env = { DATABASE_URL: url };
    const gateways = [await startGateway(engine, env), await startGateway(engine, env)];
    const { json } = await (gateways[0]?.createPet({ name: 'Rex', categoryId: 1 }) ?? Promise.reject());
    const id = String(json.id);
    const bearer = (one: string) => ({ authorization: `Bearer ${one}` });
    const before = Date.now();
    for (const { request, graphql } of gateways) {
      const get = async (one: string) => (await request(`/v1/pets/${id}`, { headers: bearer(one) })).status;
      for (let use = 0; use < 3; use++) expect(await get(key)).toBe(200);
      expect(await get(otherKey)).toBe(200);
      expect((await graphql(`{ pet(id: "${id}") { name } }`, {}, bearer(otherKey))).status).toBe(200);
      // What does not run is not used.
      const query = 'query A { pets { name } pet(id: 1) @skip(if: true) { id } } query B { pet(id: 1) { id } }';
      const byGet = `/graphql?${new URLSearchParams({ query, operationName: 'A' })}`;
      expect((await request(byGet, { headers: bearer(key) })).status).toBe(200);
      expect(await get('none')).toBe(401);
    }
    for (const gateway of gateways) await gateway.close();
    const sums = await store.sumSince(TODAY);
    const told = sums.map(({ key, operation, count }) => `${key} ${operation} ${count}`);
    expect(told.toSorted()).toEqual(['other Query.pet 2', 'other getPet 2', 'test getPet 6']);
    for (const { lastSeen } of sums) expect(Date.parse(lastSeen)).toBeGreaterThanOrEqual(before);
  });

  test('what could not be written is kept and written later, with nothing lost or doubled', async () => {
    const { url, database, keys, keyId, store } = await prepare();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const warnings: string[] = [];
    const log = createLog('warn', { write: (line) => void warnings.push(line) });
    const usage = createUsage(keys, store, log);
    await database.knex.schema.renameTable('deprecated_use', 'deprecated_use_away');
    for (let use = 0; use < 4; use++) usage.noteDeprecatedUse(keyId, 'getPet');
    vi.advanceTimersByTime(MINUTE_MS);
    await eventually(() => warnings.length > 0, LIMIT_MS, 'the failure is in the log');
    usage.noteDeprecatedUse(keyId, 'getPet');
    await (await openDatabase(url)).knex.schema.renameTable('deprecated_use_away', 'deprecated_use');
    await usage.close(LIMIT_MS);
    const [sum] = await store.sumSince(TODAY);
    expect(sum?.count).toBe(5);
  });

  test('a use that could not be written is kept, unless there was a later one; closing writes what came meanwhile', async () => {
    const { store } = await prepare();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    const written: (readonly [string, number])[] = [];
    const attempts: PromiseWithResolvers<void>[] = [];
    const keys = {
      async noteLastUses(uses: ReadonlyMap<string, number>) {
        const attempt = Promise.withResolvers<void>();
        attempts.push(attempt);
        const copy = [...uses];
        await attempt.promise;
        written.push(...copy);
      },
    };
    const usage = createUsage(keys, store, SILENT);
    const [first, second, third] = [1000, 2000, 3000];
    vi.setSystemTime(first);
    for (const id of ['once', 'twice']) usage.noteUse(id);
    vi.advanceTimersByTime(MINUTE_MS);
    vi.setSystemTime(second);
    usage.noteUse('twice');
    attempts[0]?.reject(new Error('away'));
    await eventually(() => vi.advanceTimersByTime(MINUTE_MS) && attempts.length === 2, LIMIT_MS, 'it is tried again');
    vi.setSystemTime(third);
    usage.noteUse('late');
    const closing = usage.close(LIMIT_MS);
    attempts[1]?.resolve();
    await eventually(() => attempts.length === 3, LIMIT_MS, 'what came meanwhile is written');
    attempts[2]?.resolve();
    await closing;
    expect(written).toEqual([
      ['once', first],
      ['twice', second],
      ['late', third],
    ]);
  });

  test('three hundred keys are two statements a table, however long the database takes', async () => {
    const { database, keys, store } = await prepare();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const answers = Promise.withResolvers<void>();
    const stalled = {
      async noteLastUses(uses: Parameters<typeof keys.noteLastUses>[0]) {
        await answers.promise;
        await keys.noteLastUses(uses);
      },
    };
    const usage = createUsage(stalled, store, SILENT);
    const ids: string[] = [];
    for (let index = 0; index < 300; index += 10) {
      const names = Array.from({ length: 10 }, (_, next) => `key ${index + next}`);
      ids.push(...(await Promise.all(names.map(async (name) => (await keys.create({ name, expiresAt: null })).id))));
    }
    const statements: string[] = [];
    database.knex.on('query', ({ sql }: { sql: string }) => statements.push(sql.slice(0, 6).toLowerCase()));
    for (const id of ids) {
      usage.noteUse(id);
      usage.noteDeprecatedUse(id, 'getPet');
    }
    vi.advanceTimersByTime(25 * MINUTE_MS); // no flush begins while another one waits
    answers.resolve();
    await eventually(() => statements.length === 4, LIMIT_MS, 'all is written');
    await usage.close(LIMIT_MS);
    expect(statements).toEqual(['update', 'update', 'insert', 'insert']);
    const uses = await store.sumSince(TODAY);
    expect(uses.map((sum) => sum.count)).toEqual(Array(300).fill(1));
    expect((await keys.list()).filter(({ lastUsedAt }) => lastUsedAt !== null)).toHaveLength(300);
  });

  test('the last use of what is deprecated never goes back, and the counts add up', async () => {
    const { keyId, store } = await prepare();
    const later = new Date(Date.now() + 5000);
    const use = { apiKeyId: keyId, operation: 'getPet', day: TODAY, uses: 2 };
    await store.add([{ ...use, lastSeenAt: later }]);
    await store.add([{ ...use, uses: 3, lastSeenAt: new Date() }]);
    expect(await store.sumSince(TODAY)).toMatchObject([{ count: 5, lastSeen: later.toISOString() }]);
  });

  test('is counted apart for keys of one name, and for those that are not there any more', async () => {
    const { keys, keyId, store } = await prepare();
    const { id } = await keys.create({ name: 'test', expiresAt: null });
    const use = { operation: 'getPet', day: TODAY, lastSeenAt: new Date() };
    await store.add([keyId, id, '987', '988'].map((apiKeyId, index) => ({ ...use, apiKeyId, uses: 4 - index })));
    const sums = await store.sumSince(TODAY);
    expect(sums.map(({ key, count }) => `${key} ${count}`)).toEqual([
      'test 4',
      'test 3',
      'unknown key 2',
      'unknown key 1',
    ]);
  });

  test('is written in one order by all processes, so that none waits for another crosswise', async () => {
    const { database, keys, store } = await prepare();
    const written: string[] = [];
    database.knex.on('query', ({ bindings }: { bindings: unknown[] }) => written.push(bindings.join()));
    const use = { operation: 'getPet', day: TODAY, uses: 1, lastSeenAt: new Date() };
    for (const ids of [
      ['1', '2', '3'],
      ['3', '1', '2'],
    ]) {
      await keys.noteLastUses(new Map(ids.map((id) => [id, 1])));
      await store.add(ids.map((apiKeyId) => ({ ...use, apiKeyId })));
    }
    expect(written.slice(2)).toEqual(written.slice(0, 2));
  });

  test('what was counted before a stop is written while requests still end; what came meanwhile, at its end', async () => {
    const { keys, keyId, store } = await prepare();
    const usage = createUsage(keys, store, SILENT);
    const uses = async () => (await store.sumSince(TODAY))[0]?.count;
    usage.noteDeprecatedUse(keyId, 'getPet');
    usage.drain();
    await eventually(async () => (await uses()) === 1, LIMIT_MS, 'the first use is written');
    usage.noteDeprecatedUse(keyId, 'getPet');
    await usage.close(LIMIT_MS);
    expect(await uses()).toBe(2);
  });
});

test.each([
  ['never answers', () => new Promise<void>(() => {})],
  ['fails', () => Promise.reject(new Error('away'))],
])('closing does not wait for a database that %s; what is lost is one line of the log', async (_what, noteLastUses) => {
  const lines: string[] = [];
  const log = createLog('warn', { write: (line) => void lines.push(line) });
  const usage = createUsage({ noteLastUses }, { add: async () => {} }, log);
  for (const id of ['1', '2']) usage.noteUse(id);
  usage.drain();
  await new Promise(setImmediate); // what fails has failed when it closes
  await usage.close(10);
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ lost: 2, msg: 'the last use of API keys could not be written' });
});

test('requests are served between two batches, though SQLite never waits', async () => {
  const order: string[] = [];
  const write = (what: string) => async () => {
    setImmediate(() => order.push('served'));
    order.push(what);
  };
  const usage = createUsage({ noteLastUses: write('last uses') }, { add: write('deprecated uses') }, SILENT);
  for (let id = 0; id < 201; id++) {
    usage.noteUse(String(id));
    usage.noteDeprecatedUse(String(id), 'getPet');
  }
  await usage.close(LIMIT_MS);
  const batches = ['last uses', 'last uses', 'deprecated uses', 'deprecated uses'];
  expect(order).toEqual(batches.flatMap((what) => [what, 'served']));
});

/** Counts, and what is written of the use of what is deprecated. */
function createNoted() {
  const written: DeprecatedUse[] = [];
  const add = async (uses: readonly DeprecatedUse[]) => void written.push(...uses);
  return { written, usage: createUsage({ noteLastUses: async () => {} }, { add }, SILENT) };
}

test('while nothing can be written, 100,000 counts are kept: they go on, and no other begins', async () => {
  const { written, usage } = createNoted();
  for (let id = 0; id <= 100_000; id++) usage.noteDeprecatedUse(String(id), 'getPet');
  usage.noteDeprecatedUse('0', 'getPet');
  await usage.close(LIMIT_MS);
  expect(written).toHaveLength(100_000);
  expect(written[0]).toMatchObject({ apiKeyId: '0', uses: 2 });
});

test('a use during the write of an earlier one is written after it', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const moments: (number | undefined)[] = [];
  const counts: number[][] = [];
  const useAgain = (moment: number) => {
    vi.setSystemTime(moment);
    usage.noteUse('1');
    usage.noteDeprecatedUse('1', 'getPet');
  };
  const noteLastUses = async (uses: ReadonlyMap<string, number>) => {
    if (moments.push(uses.get('1')) === 1) useAgain(2000);
  };
  const add = async (uses: readonly DeprecatedUse[]) => {
    if (counts.push(uses.map((use) => use.uses)) === 1) usage.noteDeprecatedUse('1', 'getPet');
  };
  const usage = createUsage({ noteLastUses }, { add }, SILENT);
  useAgain(1000);
  await usage.close(LIMIT_MS); // which writes twice
  expect(moments).toEqual([1000, 2000]);
  expect(counts).toEqual([[2], [1]]);
});

test('uses before and after midnight (UTC) belong to two days, though they are written together', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { written, usage } = createNoted();
  for (const moment of ['2026-01-01T23:59:59.999Z', '2026-01-02T00:00:00Z', '2026-01-02T00:00:01Z']) {
    vi.setSystemTime(moment);
    usage.noteDeprecatedUse('1', 'getPet');
  }
  await usage.close(LIMIT_MS);
  const day = dayNumber(new Date('2026-01-01T12:00:00Z'));
  expect(written.map((use) => [use.day, use.uses])).toEqual([
    [day, 1],
    [day + 1, 2],
  ]);
});
