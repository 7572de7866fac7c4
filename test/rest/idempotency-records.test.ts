import { hash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { expect, test, vi } from 'vitest';
import { connectDatabase, type Database } from '../../src/gateway/database/connect.ts';
import { createRecords, RecordTakenError } from '../../src/gateway/idempotency/idempotency-records.ts';
import { createIdempotentCreates } from '../../src/gateway/idempotency/idempotent-creates.ts';
import { createStores } from '../../src/gateway/store/store.ts';
import { createCanonicalizer } from '../../src/gateway/store/table.ts';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { type NewPet, PETS } from '../../src/petstore/pets/pet.ts';
import { afterFile, describeEachEngine } from '../support/engines.ts';
import { openDatabase, prepareDatabase } from '../support/prepared.ts';

const PET: NewPet = { name: 'Rex', categoryId: '1' as Int64, status: 'sold' };
const DAY_MS = 24 * 3_600_000;

const FIELDS = Object.keys(PETS.fields);
const canonical = createCanonicalizer(PETS);
const scopedKey = (idempotencyKey: string) => ({ ownerId: '1', idempotencyKey, position: 1 });
const sha256 = (parts: readonly unknown[]) => hash('sha256', JSON.stringify(parts), 'hex');
/** The record of `scopedKey(key)` and PET. */
const record = (key: string, resultId: number, ageMs = 0) => ({
  id: sha256(['pets', '1', key, 1]),
  input_hash: sha256(canonical(PET)),
  result_id: resultId,
  created_at: Date.now() - ageMs,
});

// Every field that there is: a new one has its cases without a line here.
test.each(FIELDS)('two inputs that differ in %s are not the same', (name) => {
  for (const other of ['2', null]) {
    const changed = { ...PET, [name]: other };
    expect(sha256(canonical(changed)), `createCanonicalizer leaves out ${name}`).not.toBe(
      sha256(canonical({ ...PET, [name]: '1' })),
    );
  }
});

describeEachEngine('the records of idempotent creates', (engine) => {
  test.each([
    ['a minute less than a day', DAY_MS - 60_000, true],
    ['a day', DAY_MS, false],
  ])('one that is %s old is replayed or renewed', async (_age, ageMs, isReplayed) => {
    const { database } = await prepareDatabase(engine);
    await database.knex('idempotency_keys').insert(record('aged', 4711, ageMs));
    const { row, replayed } = await createStores(database)(PETS).add(PET, scopedKey('aged'), deadlineIn(5000));
    expect([replayed, String(row.id) === '4711']).toEqual([isReplayed, isReplayed]);
  });

  test('the clean-up leaves one that is renewed while it works', async () => {
    const { database, url } = await prepareDatabase(engine);
    const neighbour = createStores(await openDatabase(url))(PETS);
    await database.knex('idempotency_keys').insert(record('renewed', 1, DAY_MS));
    let renewed: Promise<{ row: { id: unknown } }> | undefined;
    const { run } = database;
    // Between the look and the DELETE, another process renews the record.
    const sweeping = createRecords({
      ...database,
      run: async (work, options) => {
        const result = await run(work, options);
        renewed ??= neighbour.add(PET, scopedKey('renewed'), deadlineIn(5000));
        await renewed;
        return result;
      },
    });
    await sweeping.sweep();
    const first = await renewed;
    const again = await neighbour.add(PET, scopedKey('renewed'), deadlineIn(5000));
    expect([again.replayed, String(again.row.id)]).toEqual([true, String(first?.row.id)]);
  });

  test('the clean-up deletes at most 500 at once, and requests are served in between', async () => {
    const { database } = await prepareDatabase(engine);
    const old = Array.from({ length: 501 }, (_, index) => record(`old ${index}`, 1, DAY_MS));
    await database.knex.batchInsert('idempotency_keys', old, 100);
    let isServed = false;
    setImmediate(() => {
      isServed = true;
    });
    const deleted: unknown[] = [];
    database.knex.on('query', ({ sql, bindings }: { sql: string; bindings: unknown[] }) => {
      if (/^delete/i.test(sql)) deleted.push([bindings.length, isServed]);
    });
    await createRecords(database).sweep();
    expect(deleted).toEqual([
      [500, expect.any(Boolean)],
      [1, true],
    ]);
  });

  test('records are added in one order, a renewed one that is not expired is taken, and a record tells only what has expired', async () => {
    const { database } = await prepareDatabase(engine);
    const records = createRecords(database);
    const added: unknown[] = [];
    database.knex.on('query', ({ sql, bindings }: { sql: string; bindings: unknown[] }) => {
      if (/^insert into idempotency_keys/i.test(sql)) added.push(...bindings.filter((_, index) => index % 2 === 0));
    });
    const fresh = ['c', 'a', 'b'].map((id) => ({ id, inputHash: '', resultId: '7' as Int64, renews: false }));
    await database.knex.transaction((transaction) => records.add(transaction, fresh));
    expect(added).toEqual(['a', 'b', 'c']);
    const renewing = () =>
      database.knex.transaction((transaction) =>
        records.add(transaction, [{ id: 'a', inputHash: 'new', resultId: '8' as Int64, renews: true }]),
      );
    await expect(renewing()).rejects.toBeInstanceOf(RecordTakenError);
    expect(await records.find('a', deadlineIn(5000))).toEqual({ inputHash: '', resultId: '7', isExpired: false });
    await database.knex('idempotency_keys').decrement('created_at', DAY_MS);
    expect(await records.find('a', deadlineIn(5000))).toMatchObject({ isExpired: true });
    await renewing();
    expect(await records.find('a', deadlineIn(5000))).toMatchObject({
      inputHash: 'new',
      resultId: '8',
      isExpired: false,
    });
  });

  const creating = (create: (inputs: readonly string[]) => Promise<Int64[]>) => ({
    operation: 'test',
    canonical: (input: string) => [input],
    addWithin: (_transaction: unknown, inputs: readonly string[]) => create(inputs),
    acquireIdLock: async () => () => {},
    bytesOf: () => 1,
  });

  test.each([
    ['was rolled back in favour of another', { errno: 1213 }],
    ['lost its connection', { code: 'PROTOCOL_CONNECTION_LOST', fatal: true }],
  ])('what %s is done again, while there is time', async (_what, fault) => {
    const { database } = await prepareDatabase(engine);
    let attempts = 0;
    const createIdempotently = createIdempotentCreates(
      database,
      creating(async () => {
        attempts++;
        if (attempts % 2 === 1) throw Object.assign(new Error('failed'), fault);
        return ['7' as Int64];
      }),
    );
    expect(await createIdempotently(scopedKey('twice'), 'x', deadlineIn(60_000))).toEqual({ id: '7', replayed: false });
    expect(attempts).toBe(2);
    await expect(createIdempotently(scopedKey('late'), 'x', deadlineIn(2500))).rejects.toMatchObject({
      meaning: 'unavailable',
    });
    expect(attempts).toBe(3);
  });

  test('what is done again holds the lock of the ids once, and gives it back at the end', async () => {
    const { database } = await prepareDatabase(engine);
    const held = new Set<symbol>();
    const heldAtCreates: number[] = [];
    const creates = creating(async () => {
      heldAtCreates.push(held.size);
      if (heldAtCreates.length === 1) throw Object.assign(new Error('failed'), { errno: 1213 });
      return ['7' as Int64];
    });
    const acquireIdLock = async () => {
      const lock = Symbol();
      held.add(lock);
      return () => void held.delete(lock);
    };
    await createIdempotentCreates(database, { ...creates, acquireIdLock })(scopedKey('lock'), 'x', deadlineIn(60_000));
    expect([heldAtCreates, held.size]).toEqual([[1, 1], 0]);
  });

  test.runIf(engine.name === 'mysql')('the lock of the ids is not held while another holds a record', async () => {
    const { url, database } = await prepareDatabase(engine);
    const create = creating(async (inputs) => inputs.map(() => '7' as Int64));
    const isReleased = Promise.withResolvers<string>();
    const acquireIdLock = async () => () => isReleased.resolve('released');
    const createIdempotently = createIdempotentCreates(database, { ...create, acquireIdLock });
    const other = await openDatabase(url);
    const holding = await other.knex.transaction();
    await holding('idempotency_keys').forUpdate(); // the space of new records, too
    database.knex.on('query-error', () => isReleased.resolve('released at the end of the wait'));
    const created = createIdempotently(scopedKey('held'), 'x', deadlineIn(20_000));
    const release = await isReleased.promise;
    await holding.rollback();
    expect(release).toBe('released');
    expect(await created).toEqual({ id: '7', replayed: false }); // the wait went on
  });

  test.runIf(engine.name === 'sqlite')('the lock of the ids is left alone where no transaction was begun', async () => {
    const { url, database } = await prepareDatabase(engine);
    const acquireIdLock = vi.fn(async () => () => {});
    const create = creating(async (inputs) => inputs.map(() => '7' as Int64));
    using other = new DatabaseSync(url.slice('sqlite:'.length));
    other.exec('BEGIN IMMEDIATE');
    const created = createIdempotentCreates(database, { ...create, acquireIdLock })(
      scopedKey('k'),
      'x',
      deadlineIn(9000),
    );
    await expect(created).rejects.toMatchObject({ meaning: 'unavailable' });
    expect(acquireIdLock).not.toHaveBeenCalled();
  });

  test.runIf(engine.name === 'mysql')(
    'those that wait for the lock of the ids leave a connection to its holder',
    async () => {
      const { url } = await prepareDatabase(engine);
      const database = await connectDatabase({ databaseUrl: url, databasePoolMax: 2 });
      afterFile(() => database.close());
      const [isWaiting, isReleased] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const acquireIdLock = async () => {
        isWaiting.resolve();
        await isReleased.promise;
        return () => {};
      };
      const create = creating(async (inputs) => inputs.map(() => '7' as Int64));
      const createIdempotently = createIdempotentCreates(database, { ...create, acquireIdLock });
      const answers = Promise.allSettled(
        Array.from({ length: 100 }, (_, index) =>
          createIdempotently(scopedKey(`key ${index}`), 'x', deadlineIn(60_000)),
        ),
      );
      await isWaiting.promise;
      for (let turn = 0; turn < 5; turn++)
        expect(await database.query('SELECT 1 AS one', [], deadlineIn(10_000))).toEqual([{ one: 1 }]);
      isReleased.resolve();
      expect((await answers).filter(({ status }) => status === 'rejected')).toEqual([]);
    },
  );

  test.each([
    [1, 'replayed'],
    [2, 'conflict'],
  ])('of a record that %i looks do not see yet, and which is there, the outcome is: %s', async (blind, outcome) => {
    const { database } = await prepareDatabase(engine);
    const create = creating(async (inputs) => inputs.map(() => '7' as Int64));
    await createIdempotentCreates(database, create)(scopedKey('seen late'), 'x', deadlineIn(60_000));
    let looks = 0;
    const query: Database['query'] = async (...parameters) =>
      ++looks <= blind ? [] : await database.query(...parameters);
    const createIdempotently = createIdempotentCreates({ ...database, query }, create);
    const answer = createIdempotently(scopedKey('seen late'), 'x', deadlineIn(60_000));
    if (outcome === 'replayed') expect(await answer).toEqual({ id: '7', replayed: true });
    else await expect(answer).rejects.toMatchObject({ code: 'idempotency_conflict' });
    expect(looks).toBe(2);
  });

  test('creates with keys of their own never wait for each other', async () => {
    const { database } = await prepareDatabase(engine);
    const stores = [createStores(database)(PETS), createStores(database)(PETS)];
    const refused: unknown[] = [];
    database.knex.on('query-error', (error: unknown) => refused.push(error)); // a deadlock that is tried again, too
    const count = 400;
    const answers = await Promise.all(
      Array.from({ length: count }, (_, index) =>
        stores[index % 2]?.add(PET, scopedKey(`key ${index}`), deadlineIn(60_000)),
      ),
    );
    expect(new Set(answers.map((answer) => answer?.row.id)).size).toBe(count);
    expect(await database.knex('pets').select('id')).toHaveLength(count);
    expect(refused).toEqual([]);
  });
});
