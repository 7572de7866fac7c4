import { type Batcher, createBatcher } from '../../lib/batcher/batcher.ts';
import type { Deadline } from '../../lib/deadline/deadline.ts';
import { type Int64, toInt64 } from '../../lib/exact-json/exact-json.ts';
import type { Database } from '../database/connect.ts';
import { bindValue, columnsOf, type PageQuery, type StoredRow, selectList, type Table, valuesOf } from './table.ts';

/** The rows of one page, by ascending id. Equal queries in one batch get the same array; it is frozen, so that its JSON may be cached. */
export interface Page<Row> extends ReadonlyArray<Row> {
  /** Whether more rows follow the last one. */
  readonly hasMore: boolean;
}

/** The smallest int64: every id is greater. */
const ID_MIN = -(2n ** 63n);

/** An assumed size of a row in a result set, in bytes. */
const ROW_BYTES = 320;
/** The longest row, in bytes, with which a statement may read as many rows as it likes. */
export const LONG_ROW_BYTES = 65_536;
/** How many rows of that length one statement reads at most. */
const STEP_ROWS = 100;
/** How many rows are read by their ids at once. */
const GET_ROWS = 32;

/** Counts bytes that a request has read; throws when they are too many. */
export type CountRead = (bytes: number) => void;

/** How many times longer than LONG_ROW_BYTES a row may be, at least 1: by so much smaller is what one statement reads. */
const lengthFactor = (rowBytesMax: number) => Math.max(1, rowBytesMax / LONG_ROW_BYTES);

/**
 * Creates a function that reads a page by keyset pagination (`id > after`). Concurrent queries are batched. Where a row may have
 * `rowBytesMax` bytes, more than LONG_ROW_BYTES, a long page is read in steps and counted, so that it ends before it takes the heap.
 */
export function createKeysetList<T extends Table>(database: Database, table: T, rowBytesMax: number) {
  const factor = lengthFactor(rowBytesMax);
  const stepRows = Math.max(1, Math.floor(STEP_ROWS / factor));
  const filters = columnsOf(table).filter(({ index }) => index !== undefined);
  const select = selectList(table);

  /** A query as a part of a batch. `group` has a digit for each filter of the table: 1 if the query uses it. */
  const toPart = (query: PageQuery<T>) => {
    const given = valuesOf(query);
    const values = filters.map(({ name, kind }) => bindValue(kind, given[name]));
    return {
      group: values.map((value) => (value === null ? '0' : '1')).join(''),
      limit: query.limit,
      // One row more than the page: it tells whether there is a next page.
      bindings: [...values.filter((value) => value !== null), BigInt(query.after ?? ID_MIN), query.limit + 1],
    };
  };

  const listSql = (group: string, part = ''): string => {
    const chosen = filters.filter((_, index) => group[index] === '1');
    const conditions = [...chosen.map(({ column }) => `${column} = ?`), 'id > ?'].join(' AND ');
    // Without the hint, MariaDB reads all earlier rows of a filter for a deep page. Of several indexes it chooses the best.
    const indexes = chosen.map(({ index }) => index).join(', ');
    const hint = database.engine === 'mysql' && indexes !== '' ? ` FORCE INDEX (${indexes})` : '';
    return `SELECT ${select}${part} FROM ${table.name}${hint} WHERE ${conditions} ORDER BY id LIMIT ?`;
  };
  const union = (group: string, count: number): string =>
    Array.from({ length: count }, (_, part) => `(${listSql(group, `, ${part} AS part`)})`).join(' UNION ALL ');
  const sqlCache = new Map<string, string>();
  const sqlOf = (group: string, count: number): string => {
    const key = `${group} ${count}`;
    const text = sqlCache.get(key) ?? (count === 1 ? listSql(group) : union(group, count));
    sqlCache.set(key, text);
    return text;
  };

  const list = createBatcher<ReturnType<typeof toPart>, Page<StoredRow<T>>>(
    database,
    {
      // SQLite is not batched: there is no round trip to save.
      ...(database.engine === 'sqlite'
        ? { inFlight: 1000, inFlightMax: 1000, maxSize: 1 }
        : { inFlight: 4, maxSize: 16, targetSize: 8, aloneMax: 8 }),
      // The length of each value is part of the key, so that different queries never have the same one.
      keyOf: ({ group, bindings }) =>
        bindings.map(String).reduce((key, text) => `${key} ${text.length}:${text}`, group),
      groupOf: ({ group }) => group,
      // A batch has up to eight pages of 100 rows. A larger result would delay all queries of the batch.
      bytesOf: ({ limit }) => limit * ROW_BYTES * factor,
    },
    async (parts, deadline) => {
      const sql = sqlOf(parts[0]?.group ?? '', parts.length);
      const bindings = parts.flatMap((part) => part.bindings);
      const rows = await database.query<StoredRow<T> & { part?: number }>(sql, bindings, deadline);
      const lists = parts.length === 1 ? [rows] : splitUnion(rows, parts.length);
      return parts.map(({ limit }, index) => firstOf(lists[index] ?? [], limit));
    },
  );
  const listInSteps = async (query: PageQuery<T>, deadline: Deadline, countRead: CountRead) => {
    const read: StoredRow<T>[] = [];
    for (let after = query.after; ; after = toInt64((read.at(-1) as StoredRow<T>).id)) {
      const limit = Math.min(stepRows, query.limit - read.length);
      const step = await list(toPart({ ...query, after, limit }), deadline);
      for (const row of step) countRead(lengthOf(row));
      read.push(...step);
      if (!step.hasMore || read.length === query.limit) return toPage(read, step.hasMore);
    }
  };
  return (query: PageQuery<T>, deadline: Deadline, countRead: CountRead = () => {}): Promise<Page<StoredRow<T>>> =>
    factor === 1 ? list(toPart(query), deadline) : listInSteps(query, deadline, countRead);
}

/** The length of a row's texts, in characters. */
function lengthOf(row: object): number {
  return Object.values(row).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
}

/** Creates a function that reads the row with an id, or null. Concurrent calls are batched. */
export function createRowReader<T extends Table>(
  database: Database,
  table: T,
  rowBytesMax: number,
): Batcher<Int64, StoredRow<T> | null> {
  const select = `SELECT ${selectList(table)} FROM ${table.name} WHERE id IN`;
  const maxSize = Math.max(1, Math.floor(GET_ROWS / lengthFactor(rowBytesMax)));
  const rules = { inFlight: 2, maxSize, keyOf: (id: Int64) => id };
  return createBatcher(database, rules, async (ids, deadline) => {
    const sql = `${select} (${ids.map(() => '?').join(', ')})`;
    const rows = await database.query<StoredRow<T>>(sql, ids.map(BigInt), deadline);
    const byId = new Map(rows.map((row) => [String(row.id), row]));
    return ids.map((id) => byId.get(id) ?? null);
  });
}

/** Splits the rows of a union by their part, each by ascending id. */
function splitUnion<Row extends Pick<StoredRow<Table>, 'id'> & { part?: number }>(rows: readonly Row[], count: number) {
  const lists = Array.from({ length: count }, (): Row[] => []);
  for (const row of rows) lists[row.part ?? 0]?.push(row);
  // The result of a union has no guaranteed order, https://dev.mysql.com/doc/refman/9.7/en/union.html
  return lists.map((list) => list.sort(compareIds));
}

function firstOf<Row>(rows: Row[], limit: number): Page<Row> {
  const hasMore = rows.length > limit;
  if (hasMore) rows.pop();
  return toPage(rows, hasMore);
}

const toPage = <Row>(rows: Row[], hasMore: boolean): Page<Row> => Object.freeze(Object.assign(rows, { hasMore }));

function compareIds(a: Pick<StoredRow<Table>, 'id'>, b: Pick<StoredRow<Table>, 'id'>): number {
  if (typeof a.id === 'number' && typeof b.id === 'number') return a.id - b.id;
  return BigInt(a.id) < BigInt(b.id) ? -1 : 1;
}
