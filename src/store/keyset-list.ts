import { type Ask, shareReads, travelRules } from '../database/batching/together.ts';
import { fillUp } from '../database/batching/waiting-line.ts';
import type { Database } from '../database/connect.ts';
import type { Binding } from '../database/prepared.ts';
import type { Int64 } from '../int64.ts';
import {
  bindValue,
  type Column,
  columnsOf,
  type Kept,
  type PageQuery,
  rowReader,
  selectList,
  type Table,
} from './table.ts';

/** One page, by ascending id; who asks the same at the same time gets the same object. */
export interface Page<Row> {
  /** Frozen: whoever has made a text of them may keep it. */
  readonly rows: readonly Row[];
  /** Whether more rows follow the last one. */
  readonly hasMore: boolean;
}

/** Below every id: AUTO_INCREMENT begins at 1. */
const BEFORE_ALL = -(2n ** 63n);

/** Pages of a table; pages that are asked for at the same time share statements. */
export function createKeysetList<T extends Table>(database: Database, table: T): Ask<PageQuery<T>, Page<Kept<T>>> {
  type Query = PageQuery<T>;
  type Row = Kept<T>;
  const filters = columnsOf(table).filter(({ index }) => index !== undefined);
  const select = selectList(table);
  const readRows = rowReader(table);
  const filterValue = (query: Query, { name }: Column) =>
    (query as Readonly<Record<string, string | number | null | undefined>>)[name] ?? null; // a filter
  const filtersOf = (query: Query) => filters.filter((filter) => filterValue(query, filter) !== null);

  const listSql = (query: Query, part = ''): string => {
    const chosen = filtersOf(query);
    const conditions = [...chosen.map(({ column }) => `${column} = ?`), 'id > ?'].join(' AND ');
    // MariaDB walks all earlier rows of a filter on a deep page unless the index is named; of several it takes the best.
    const indexes = chosen.map(({ index }) => index).join(', ');
    const hint = database.engine === 'mysql' && indexes !== '' ? ` FORCE INDEX (${indexes})` : '';
    return `SELECT ${select}${part} FROM ${table.name}${hint} WHERE ${conditions} ORDER BY id LIMIT ?`;
  };

  const listBindings = (query: Query): Binding[] => [
    ...filtersOf(query).map((filter) => bindValue(filter.kind, filterValue(query, filter))),
    BigInt(query.after ?? BEFORE_ALL),
    // One more than asked for tells whether a next page exists, without counting.
    query.limit + 1,
  ];

  const groupOf = (query: Query) => {
    let group = '';
    for (const filter of filters) group += filterValue(query, filter) === null ? '0' : '1';
    return group;
  };

  const keyOf = (query: Query) => {
    let key = `${query.limit} ${query.after ?? ''}`;
    for (const filter of filters) {
      const bound = bindValue(filter.kind, filterValue(query, filter));
      key += bound === null ? ' ' : ` ${String(bound).length}:${bound}`; // with its length: no value can look like two
    }
    return key;
  };

  const listText = keepTexts();
  const listsSql = (query: Query, count: number): string =>
    listText(`${count} ${groupOf(query)}`, () => unionAll(count, (part) => listSql(query, part)));

  const readLists = async (queries: readonly Query[], deadline: number): Promise<Row[][]> => {
    const [first] = queries;
    if (first === undefined) return [];
    const sql = listsSql(first, queries.length); // all are of one group
    if (queries.length === 1) return [await database.query<Row>(sql, listBindings(first), deadline)];
    const rows = await database.query<Row & { part: number }>(sql, queries.flatMap(listBindings), deadline);
    const lists: Row[][] = queries.map(() => []);
    for (const row of rows) lists[row.part]?.push(row);
    // A union promises no order, https://dev.mysql.com/doc/refman/9.7/en/union.html; they come sorted all the same.
    return lists.map(inOrder);
  };

  return shareReads(
    keyOf,
    async (queries, deadline) => {
      const lists = await readLists(queries, deadline);
      if (readRows) lists.forEach(readRows);
      return queries.map((query, index) => toPage(lists[index] ?? [], query.limit));
    },
    // SQLite is no journey away: there is nothing to share.
    { ...travelRules(database, { sideBySide: 4, batch: database.engine === 'sqlite' ? 1 : 8 }), groupOf },
  );
}

/** Rows by their ids, or null; those that are asked for at the same time share statements. */
export function createRowReader<T extends Table>(database: Database, table: T): Ask<Int64, Kept<T> | null> {
  const select = `SELECT ${selectList(table)} FROM ${table.name} WHERE id IN`;
  const readRows = rowReader(table);
  const text = keepTexts();
  return shareReads(
    (id) => id,
    async (ids, deadline) => {
      const asked = fillUp(ids);
      const sql = text(String(asked.length), () => `${select} (${asked.map(() => '?').join(', ')})`);
      const rows = await database.query<Kept<T>>(sql, asked.map(BigInt), deadline);
      readRows?.(rows);
      const byKey = new Map(rows.map((row) => [String(row.id), row]));
      return ids.map((id) => byKey.get(id) ?? null);
    },
    { ...travelRules(database, { sideBySide: 2, batch: 32 }), isFilledUp: true },
  );
}

function unionAll(count: number, write: (part?: string) => string): string {
  if (count === 1) return write();
  return Array.from({ length: count }, (_, part) => `(${write(`, ${part} AS part`)})`).join(' UNION ALL ');
}

/** Writes each text once: a prepared statement is found by its text, and a text that is known is found faster. */
function keepTexts(): (key: string, write: () => string) => string {
  const kept = new Map<string, string>();
  return (key, write) => {
    const known = kept.get(key);
    if (known !== undefined) return known;
    const text = write();
    kept.set(key, text);
    return text;
  };
}

/** Rows by ascending id; looking costs less than sorting. */
function inOrder<Row extends { readonly id: Kept<Table>['id'] }>(rows: Row[]): Row[] {
  for (let index = 1; index < rows.length; index++) {
    if (byId(rows[index - 1] as Row, rows[index] as Row) > 0) return rows.sort(byId); // both are within
  }
  return rows;
}

function byId(a: Pick<Kept<Table>, 'id'>, b: Pick<Kept<Table>, 'id'>): number {
  if (typeof a.id === 'number' && typeof b.id === 'number') return a.id - b.id;
  return BigInt(a.id) < BigInt(b.id) ? -1 : 1;
}

function toPage<Row>(rows: Row[], limit: number): Page<Row> {
  const hasMore = rows.length > limit;
  if (hasMore) rows.pop();
  return { rows: Object.freeze(rows), hasMore };
}
