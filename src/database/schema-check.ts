import { connectDatabase, type Database } from './connect.ts';
import { migrateUp } from './migrations.ts';

/** A column, or one column of an index in its place there; a primary key is the index PRIMARY. */
interface SchemaRow {
  readonly table: string;
  readonly index: string | null;
  readonly column: string;
}

const SCHEMA_SQL = {
  sqlite: `WITH tables AS (SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'knex%')
    SELECT t.name AS "table", NULL AS "index", c.name AS "column", 0 AS place FROM tables t, pragma_table_info(t.name) c
    UNION ALL SELECT t.name, 'PRIMARY', c.name, c.pk FROM tables t, pragma_table_info(t.name) c WHERE c.pk > 0
    UNION ALL SELECT t.name, i.name, c.name, c.seqno FROM tables t, pragma_index_list(t.name) i, pragma_index_info(i.name) c
      WHERE i.origin <> 'pk' ORDER BY 1, 2, 4`,
  mysql: `SELECT table_name AS \`table\`, NULL AS \`index\`, column_name AS \`column\`, 0 AS place
      FROM information_schema.columns WHERE table_schema = DATABASE()
    UNION ALL SELECT table_name, index_name, column_name, seq_in_index
      FROM information_schema.statistics WHERE table_schema = DATABASE() ORDER BY 1, 2, 4`,
};

/**
 * What this database's schema lacks of what all migrations make, one line each; empty when it is whole. What it has beyond that
 * may be of a newer version. DatabaseFault `unavailable` when the database is away.
 */
export async function schemaProblems(database: Database): Promise<string[]> {
  const expected = await expectedSchema();
  const actual = await readSchema(database);
  const missing = [...expected].flatMap(([table, parts]) => {
    const found = actual.get(table);
    if (found === undefined) return [`table ${table} is missing`];
    return parts.filter((part) => !found.includes(part)).map((part) => `${table}: ${part} is missing`);
  });
  return [...missing, ...(await engineProblems(database, [...expected.keys()]))];
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
async function expectedSchema(): Promise<Map<string, string[]>> {
  const database = connectDatabase({ databaseUrl: 'sqlite::memory:', databasePoolMax: 1 });
  try {
    await migrateUp(database);
    return await readSchema(database);
  } finally {
    await database.close();
  }
}

/** Of each table its columns, and its indexes with theirs, each as a text. */
async function readSchema(database: Database): Promise<Map<string, string[]>> {
  const rows = await database.query<SchemaRow>(SCHEMA_SQL[database.engine], [], undefined);
  const schema = new Map<string, string[]>();
  for (const [table, ofTable] of Map.groupBy(rows, (row) => row.table)) {
    const parts = [...Map.groupBy(ofTable, ({ index }) => index)].flatMap(([index, columns]) => {
      const names = columns.map(({ column }) => column);
      if (index === null) return names.map((name) => `column ${name}`);
      return `${index === 'PRIMARY' ? 'primary key' : `index ${index}`} (${names.join(', ')})`;
    });
    schema.set(table, parts);
  }
  return schema;
}
