import { describe, expect, test } from 'vitest';
import type { Database } from '../../src/gateway/database/connect.ts';
import type { Binding } from '../../src/gateway/kinds.ts';
import { createKeysetList, createRowReader } from '../../src/gateway/store/keyset-list.ts';
import { defineTable, type PageQuery } from '../../src/gateway/store/table.ts';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';
import { type Int64, int64FromJson } from '../../src/lib/exact-json/exact-json.ts';

const ROOMS = defineTable('rooms', {
  houseNumber: { kind: 'int64', filter: true },
  owner: { kind: 'text', filter: true },
  tenant: { kind: 'text', optional: true, filter: true },
});
type Query = PageQuery<typeof ROOMS>;
type Id = number | string;

interface Sent {
  readonly sql: string;
  readonly bindings: readonly Binding[];
}

/** All that lists ask of a database. */
const databaseOf = (query: (sql: string, bindings: readonly Binding[]) => Promise<unknown>, roundTripMs = 0) =>
  ({ engine: 'mysql', connectionsMax: 10, roundTripMs: () => roundTripMs, query }) as unknown as Database;

/** Lists of rooms on a database of the MySQL protocol that gives `ids` for each part of a statement. */
function createRooms(ids: readonly Id[] = [], rowBytesMax = 65_536, roundTripMs = 0) {
  const sent: Sent[] = [];
  const query = async (sql: string, bindings: readonly Binding[]) => {
    sent.push({ sql, bindings });
    const parts = sql.split(' UNION ALL ').length;
    return ids.flatMap((id) =>
      Array.from({ length: parts }, (_, part) => ({ id, part, houseNumber: 7, tenant: null })),
    );
  };
  const list = createKeysetList(databaseOf(query, roundTripMs), ROOMS, rowBytesMax);
  const ask = (queries: readonly Partial<Query>[]) =>
    Promise.all(queries.map((given) => list({ limit: 20, after: null, ...given }, deadlineIn(5000))));
  return { ask, sent };
}

const id = (value: number) => int64FromJson(value) ?? null;

describe('lists that are asked for at the same time', () => {
  test.each<readonly [string, Partial<Query>, Partial<Query>]>([
    ['another limit', { limit: 1 }, { limit: 2 }],
    ['another place to begin', { after: id(1) }, { after: id(2) }],
    ['another value', { owner: 'Ann' }, { owner: 'Bob' }],
    ['values that are one text together', { owner: 'Ann B', tenant: 'C' }, { owner: 'Ann', tenant: 'B C' }],
    ['values with lengths in them', { owner: 'a', tenant: 'b 1:c' }, { owner: 'a 5:b', tenant: 'c' }],
    ['a value, and none', { owner: '' }, {}],
    ['a value of another field', { owner: 'Ann' }, { tenant: 'Ann' }],
  ])('%s: each has its own answer', async (_what, one, other) => {
    const { ask, sent } = createRooms();
    const [first, second, again] = await ask([one, other, one]);
    expect(first).not.toBe(second);
    expect(again).toBe(first);
    expect(sent.flatMap(({ sql }) => sql.match(/\bSELECT\b/g) ?? [])).toHaveLength(2);
  });

  test('those with the same filters share a statement, others between them do not', async () => {
    const { ask, sent } = createRooms();
    await ask([{ owner: 'Ann' }, { tenant: 'Ann' }, {}, { owner: 'Bob' }, { tenant: 'Bob' }, { limit: 1 }]);
    const filters = sent.map(({ sql }) => [...new Set(sql.match(/\b(?:owner|tenant) = \?/g))].join());
    expect(filters.sort()).toEqual(['', 'owner = ?', 'tenant = ?']);
    expect(sent.map(({ sql }) => sql.split(' UNION ALL ').length)).toEqual([2, 2, 2]);
  });

  test.each([
    [8, [1, 1, 1, 1, 1, 1, 1, 1]],
    [9, [8, 1]],
  ])('%i of them a short way off are statements of so many: %j', async (count, sizes) => {
    const { ask, sent } = createRooms([], 65_536, 0.2);
    await ask(Array.from({ length: count }, (_, after) => ({ after: id(after) })));
    expect(sent.map(({ sql }) => sql.split(' UNION ALL ').length)).toEqual(sizes);
  });

  test.each<readonly [string, readonly Id[], readonly Id[]]>([
    ['small', [10, 9, 100], [9, 10, 100]],
    [
      'large',
      ['9223372036854775807', '9007199254740993', '10000000000000000'],
      ['9007199254740993', '10000000000000000', '9223372036854775807'],
    ],
    ['both', ['9007199254740993', 9], [9, '9007199254740993']],
    ['negative', [1, -5, '-9007199254740993'], ['-9007199254740993', -5, 1]],
  ])('are ordered by id whatever the order of the union is: %s ids', async (_what, given, ordered) => {
    const { ask } = createRooms(given);
    for (const page of await ask([{ owner: 'Ann' }, { owner: 'Bob' }])) {
      expect(page.map((row) => row.id)).toEqual(ordered);
    }
  });
});

test('a filter is a column in snake case, and its index is named', async () => {
  const { ask, sent } = createRooms();
  await ask([{ houseNumber: id(7) as NonNullable<Query['houseNumber']> }]);
  expect(sent[0]?.sql).toContain('FROM rooms FORCE INDEX (rooms_house_number_id) WHERE house_number = ? AND id > ?');
  expect(sent[0]?.bindings).toEqual([7n, -(2n ** 63n), 21]);
});

describe('where a row may have 256 KiB, 25 are read at once', () => {
  /** What a page is, and the limit of each statement; `read` counts the characters of each row. */
  async function askForLong(limit: number, rooms: number, after: number | null = null, read = (_bytes: number) => {}) {
    const limits: Binding[] = [];
    const query = async (_sql: string, bindings: readonly Binding[]) => {
      const [last, most] = bindings.slice(-2).map(Number);
      limits.push(Number(most));
      const rows = Array.from({ length: rooms }, (_, index) => ({ id: index + 1, owner: 'Ann', tenant: 'Bob' }));
      return rows.filter((row) => row.id > Number(last)).slice(0, most);
    };
    const list = createKeysetList(databaseOf(query), ROOMS, 4 * 65_536);
    const page = await list({ limit, after: after === null ? null : id(after) }, deadlineIn(5000), read);
    expect(page).toSatisfy(Object.isFrozen); // its JSON may be cached
    return { ids: page.map((row) => Number(row.id)), hasMore: page.hasMore, limits };
  }
  const from = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index);

  test.each([
    ['a page before others', 60, 100, null, from(1, 60), true, [26, 26, 11]],
    ['a page that is all there is', 60, 60, null, from(1, 60), false, [26, 26, 11]],
    ['the last page', 60, 90, 60, from(61, 30), false, [26, 26]],
    ['a page of one step', 25, 30, null, from(1, 25), true, [26]],
    ['an empty page', 60, 0, null, [], false, [26]],
  ])('%s', async (_what, limit, rooms, after, ids, hasMore, limits) => {
    expect(await askForLong(limit, rooms, after)).toEqual({ ids, hasMore, limits });
  });

  test('each row is counted, and nothing more is read when they are too many', async () => {
    let counted = 0;
    const read = (bytes: number) => {
      counted += bytes;
      if (counted > 30 * 'AnnBob'.length) throw new Error('too many');
    };
    await expect(askForLong(60, 100, null, read)).rejects.toThrow('too many');
    expect(counted).toBe(31 * 'AnnBob'.length);
  });
});

test.each([
  [20, 65_536, 16],
  [100, 65_536, 8],
  [25, 4 * 65_536, 8],
])('64 different lists of %i where a row may have %i bytes are statements of %i', async (limit, bytes, most) => {
  const { ask, sent } = createRooms([], bytes);
  await ask(Array.from({ length: 64 }, (_, after) => ({ limit, after: id(after) })));
  expect(sent.map(({ sql }) => sql.split(' UNION ALL ').length)).toEqual(Array(64 / most).fill(most));
});

test.each([
  ['64 KiB', 65_536, 32],
  ['256 KiB', 4 * 65_536, 8],
  ['4 MiB', 64 * 65_536, 1],
])(
  'where a row may have %s, a statement reads as many rows by their ids as its length allows',
  async (_what, bytes, most) => {
    const counts: number[] = [];
    const query = async (_sql: string, ids: readonly Binding[]) => {
      counts.push(ids.length);
      return [];
    };
    const get = createRowReader(databaseOf(query), ROOMS, bytes);
    await Promise.all(Array.from({ length: 64 }, (_, index) => get(id(index + 1) as Int64, deadlineIn(5000))));
    expect(Math.max(...counts)).toBe(most);
  },
);
