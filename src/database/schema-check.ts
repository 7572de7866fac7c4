import type { Knex } from 'knex';
import { connectDatabase, type Database } from './connect.ts';
import { migrateUp } from './migrations.ts';

/** Of each table its columns, and its indexes with theirs, all as one line of text each. */
type Schema = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * What this database's schema lacks of what all migrations make, one line each; empty when it is whole. What it has
 * beyond that is nobody's fault: a newer version may have added it. DatabaseFault `unavailable` when the database is away.
 */
export async function schemaProblems(database: Database): Promise<string[]> {
  const expected = await expectedSchema();
  const tables = [...expected.keys()];
  const actual = await database.run((knex) =>
    database.engine === 'mysql' ? ofMysql(knex, tables) : ofSqlite(knex, tables),
  );
  const missing = tables.flatMap((table) => {
    const found = actual.get(table);
    if (found === undefined || found.size === 0) return [`table ${table} is missing`];
    return [...(expected.get(table) ?? [])]
      .filter((part) => !found.has(part))
      .map((part) => `${table}: ${part} is missing`);
  });
  return [...missing, ...(await engineProblems(database, tables))];
}

/** Of these tables, those whose writes no transaction covers, one line each, with what to do. */
export async function engineProblems({ engine, run }: Database, tables: readonly string[]): Promise<string[]> {
  if (engine === 'sqlite') return [];
  const sql = `SELECT table_name AS name, engine AS engine FROM information_schema.tables
    WHERE table_schema = DATABASE() AND engine <> 'InnoDB' AND table_name IN (?)`; // a view has no engine
  const [found] = await run((knex) => knex.raw(sql, [[...tables]]));
  return found.map(({ name, engine }: Record<string, string>) => {
    const repair = `npm run migrate, or ALTER TABLE ${name} ENGINE=InnoDB ROW_FORMAT=DYNAMIC`;
    return `table ${name} has the engine ${engine}, without the transactions of InnoDB: ${repair}`;
  });
}

/** The migrations are the description: they are run in memory. */
async function expectedSchema(): Promise<Schema> {
  const database = connectDatabase({ databaseUrl: 'sqlite::memory:', databasePoolMax: 1 });
  try {
    await migrateUp(database);
    return await database.run(async (knex) => {
      const rows: { name: string }[] = await knex('sqlite_master').where({ type: 'table' }).select('name');
      return ofSqlite(
        knex,
        rows.map(({ name }) => name).filter((name) => !/^(?:sqlite|knex)_/.test(name)),
      );
    });
  } finally {
    await database.close();
  }
}

async function ofSqlite(knex: Knex, tables: readonly string[]): Promise<Schema> {
  const schema = new Map<string, Set<string>>();
  for (const table of tables) {
    const columns: { name: string; pk: string | number }[] = await knex.raw(`PRAGMA table_info(${table})`);
    const parts = columns.map(({ name }) => `column ${name}`);
    const keyed = columns.filter(({ pk }) => Number(pk) > 0).sort((a, b) => Number(a.pk) - Number(b.pk));
    if (keyed.length > 0) parts.push(describeIndex('primary key', keyed));
    const indexes: { name: string; origin: string }[] = await knex.raw(`PRAGMA index_list(${table})`);
    for (const { name } of indexes.filter(({ origin }) => origin !== 'pk')) {
      parts.push(describeIndex(`index ${name}`, await knex.raw(`PRAGMA index_info(${name})`)));
    }
    schema.set(table, new Set(parts));
  }
  return schema;
}

async function ofMysql(knex: Knex, tables: readonly string[]): Promise<Schema> {
  const schema = new Map<string, Set<string>>(tables.map((table) => [table, new Set()]));
  const [columns] = await knex.raw(
    'SELECT table_name AS `table`, column_name AS name FROM information_schema.columns WHERE table_schema = DATABASE()',
  );
  for (const { table, name } of columns) schema.get(table)?.add(`column ${name}`);
  const [indexed] = await knex.raw(
    'SELECT table_name AS `table`, index_name AS `index`, column_name AS name FROM information_schema.statistics ' +
      'WHERE table_schema = DATABASE() ORDER BY table_name, index_name, seq_in_index',
  );
  const indexes = Map.groupBy(
    indexed as { table: string; index: string; name: string }[],
    ({ table, index }) => `${table} ${index}`,
  );
  for (const rows of indexes.values()) {
    const [{ table, index } = { table: '', index: '' }] = rows;
    schema.get(table)?.add(describeIndex(index === 'PRIMARY' ? 'primary key' : `index ${index}`, rows));
  }
  return schema;
}

function describeIndex(what: string, columns: readonly { readonly name: string }[]): string {
  return `${what} (${columns.map(({ name }) => name).join(', ')})`;
}
