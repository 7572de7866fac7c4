import type { Knex } from 'knex';
import type { Database } from '../../src/gateway/database/connect.ts';

/** All that a schema consists of, by what it is called (`column pets.name`), and what it is. */
export type WholeSchema = ReadonlyMap<string, string>;

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  /** The first of the words that it may have, where there are only few. */
  readonly word: string | undefined;
  readonly isNullable: boolean;
  readonly defaultValue: string | null;
  /** Whether the database itself gives it a value, such as a new id. */
  readonly isGenerated: boolean;
  /** What else the engine tells, to be compared. */
  readonly more: string;
}

/** The schema of a database, of Knex's own tables too. */
export async function readWholeSchema(database: Database): Promise<WholeSchema> {
  const columns = await columnsOf(database);
  const tables = new Set(columns.map(({ table }) => table));
  const kinds = database.engine === 'mysql' ? await mysqlTables(database.knex) : new Map<string, string>();
  return new Map([
    ...[...tables].map((table) => [`table ${table}`, kinds.get(table) ?? ''] as const),
    ...columns.map(({ table, name, ...rest }) => [`column ${table}.${name}`, JSON.stringify(rest)] as const),
    ...(await indexesOf(database)),
  ]);
}

let rows = 0;

/** A way to add a row to each table as it is now, with the columns that must be given. Knex's own are left alone. */
export async function readRowAdder(database: Database): Promise<() => Promise<void>> {
  const ours = (await columnsOf(database)).filter(({ table }) => !table.startsWith('knex_'));
  return async () => {
    for (const [table, columns] of Map.groupBy(ours, ({ table }) => table)) {
      const required = columns.filter((column) => !column.isNullable && !column.isGenerated && !column.defaultValue);
      const values = required.map((column) => [column.name, sampleOf(column)]);
      await database.knex(table).insert(Object.fromEntries(values));
    }
  };
}

function sampleOf({ type, word }: Column): string | number {
  if (word !== undefined) return word;
  if (/tinyint|bool/i.test(type)) return 1;
  return /int/i.test(type) ? ++rows : `row ${++rows}`;
}

/** Every row of every table but Knex's own. */
export async function readRows({ knex }: Database, schema: WholeSchema): Promise<Record<string, unknown[]>> {
  const tables = [...schema.keys()].flatMap((what) => /^table (?!knex_)(\w+)$/.exec(what)?.[1] ?? []);
  const read = async (table: string) => [table, await knex(table).select('*')] as const;
  return Object.fromEntries(await Promise.all(tables.map(read)));
}

function columnsOf({ knex, engine }: Database): Promise<Column[]> {
  return engine === 'mysql' ? mysqlColumns(knex) : sqliteColumns(knex);
}

/** Of each table its engine and row format. */
async function mysqlTables(knex: Knex): Promise<Map<string, string>> {
  const [found] = await knex.raw(
    `SELECT table_name AS tbl, engine AS engine, row_format AS form FROM information_schema.tables WHERE table_schema = DATABASE()`,
  );
  return new Map(
    (found as Record<string, string>[]).map(({ tbl, engine, form }) => [
      String(tbl),
      `${engine} ${form?.toLowerCase()}`,
    ]),
  );
}

async function mysqlColumns(knex: Knex): Promise<Column[]> {
  const [found] = await knex.raw(
    `SELECT table_name AS tbl, column_name AS name, column_type AS type, is_nullable AS nullable,
      column_default AS fallback, extra AS extra, collation_name AS collation FROM information_schema.columns
      WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position`,
  );
  return (found as Record<string, string | null>[]).map((row) => ({
    table: String(row.tbl),
    name: String(row.name),
    type: String(row.type),
    word: /^enum\('([^']+)'/.exec(row.type ?? '')?.[1],
    isNullable: row.nullable === 'YES',
    defaultValue: row.fallback ?? null,
    isGenerated: /auto_increment|generated/i.test(row.extra ?? ''),
    more: `${row.extra} ${row.collation}`,
  }));
}

async function sqliteColumns(knex: Knex): Promise<Column[]> {
  const found = await knex.raw(
    `SELECT m.name AS tbl, m.sql, c.*, sum(c.pk > 0) OVER (PARTITION BY m.name) AS keyed
      FROM sqlite_master m, pragma_table_xinfo(m.name) c
      WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY m.name, c.cid`,
  );
  return (found as Record<string, string | null>[]).map((row) => ({
    table: String(row.tbl),
    name: String(row.name),
    type: String(row.type),
    word: new RegExp(`\\b${row.name}\\W+in \\('([^']+)'`, 'i').exec(row.sql ?? '')?.[1],
    isNullable: Number(row.notnull) === 0,
    defaultValue: row.dflt_value ?? null,
    // An integer that is the whole key is the row's own number: https://www.sqlite.org/lang_createtable.html#rowid
    isGenerated:
      Number(row.hidden) !== 0 ||
      (Number(row.pk) === 1 && Number(row.keyed) === 1 && /^integer$/i.test(row.type ?? '')),
    more: `${row.pk} ${row.hidden}`,
  }));
}

const MYSQL_INDEXES = `SELECT table_name AS tbl, index_name AS name, MAX(non_unique) = 0 AS alone,
    GROUP_CONCAT(column_name ORDER BY seq_in_index) AS columns_of FROM information_schema.statistics
    WHERE table_schema = DATABASE() GROUP BY table_name, index_name`;
const SQLITE_INDEXES = `SELECT m.name AS tbl, i.name, i."unique" AS alone,
    (SELECT group_concat(name) FROM pragma_index_info(i.name)) AS columns_of
    FROM sqlite_master m, pragma_index_list(m.name) i WHERE m.type = 'table'`;

async function indexesOf({ knex, engine }: Database): Promise<[string, string][]> {
  const found: Record<string, string>[] =
    engine === 'mysql' ? (await knex.raw(MYSQL_INDEXES))[0] : await knex.raw(SQLITE_INDEXES);
  return found.map(({ tbl, name, alone, columns_of }) => [
    `index ${tbl}.${name}`,
    `${columns_of} ${Number(alone) === 1 ? 'unique' : ''}`,
  ]);
}
