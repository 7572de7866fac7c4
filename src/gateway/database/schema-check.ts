import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Knex } from 'knex';
import type { Deadline } from '../../lib/deadline/deadline.ts';
import type { MysqlPool } from '../../lib/mysql-pool/mysql-pool.ts';
import { connectDatabase, type Database } from './connect.ts';
import { MIGRATIONS, MIGRATIONS_FOLDER } from './migration-files.ts';

/** One row for each column, and one for each column of an index, in the index's order; a primary key is the index PRIMARY. */
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
 * The tables, columns and indexes of the migrations that this database lacks, one line each. Additional ones are no problem: they
 * may be of a newer version. DatabaseFault `unavailable` when the database is away.
 */
export async function schemaProblems(database: Database): Promise<string[]> {
  const expected: Schema = (await schemasOfMigrations()).at(-1)?.schema ?? new Map();
  const actual = await readSchema(database);
  const missing = [...expected].flatMap(([table, parts]) => {
    const found = actual.get(table);
    if (found === undefined) return [`table ${table} is missing`];
    return parts.filter((part) => !found.includes(part)).map((part) => `${table}: ${part} is missing`);
  });
  return [...missing, ...(await engineProblems(database, [...expected.keys()]))];
}

/** The tables of this database that one of the `pending` migrations would make, and that are not as it makes them. */
export async function foreignTables(database: Database, pending: readonly string[]): Promise<string[]> {
  const actual = await readSchema(database);
  if (actual.size === 0) return []; // the first start of all
  const foreign: string[] = [];
  let before: Schema = new Map();
  for (const { name, schema } of await schemasOfMigrations()) {
    const made = [...schema].filter(([table]) => pending.includes(name) && !before.has(table));
    const others = made.filter(([table, parts]) => parts.some((part) => actual.get(table)?.includes(part) === false));
    foreign.push(...others.map(([table]) => table));
    before = schema;
  }
  return foreign;
}

/** A line, with what to do, for each of `tables` whose storage engine has no transactions. */
export async function engineProblems(
  { engine, run }: Database,
  tables: readonly string[],
  deadline?: Deadline,
): Promise<string[]> {
  if (engine === 'sqlite') return [];
  const sql = `SELECT table_name AS name, engine AS engine FROM information_schema.tables
    WHERE table_schema = DATABASE() AND engine <> 'InnoDB' AND table_name IN (?)`; // a view has no engine
  const [found] = await run((knex) => knex.raw(sql, [[...tables]]), { deadline });
  return found.map(({ name, engine }: Record<string, string>) => {
    const repair = `ALTER TABLE ${name} ENGINE=InnoDB ROW_FORMAT=DYNAMIC`;
    return `table ${name} has the engine ${engine}, without the transactions of InnoDB: ${repair}`;
  });
}

/** The triggers of INSERTs into `tables`, in words: they may change what is stored, or give ids. */
export async function insertTriggers({ engine, run }: Database, tables: readonly string[]): Promise<string[]> {
  const sql =
    engine === 'sqlite'
      ? "SELECT name, tbl_name AS 'table', sql AS body FROM sqlite_master WHERE type = 'trigger'"
      : `SELECT trigger_name AS name, event_object_table AS \`table\`, action_statement AS body
    FROM information_schema.triggers WHERE trigger_schema = DATABASE() AND event_manipulation = 'INSERT'`;
  const answer = await run((knex) => knex.raw(sql));
  const triggers: Record<'name' | 'table' | 'body', string>[] = engine === 'sqlite' ? answer : answer[0];
  const ofTables = triggers.filter(({ table }) => tables.includes(table));
  return ofTables.map(
    ({ name, table, body }) => `${name} on ${table}${/\bid`?\s*:?=/i.test(body) ? ', which may give ids' : ''}`,
  );
}

/** The schema after each migration, all of which are run in memory. */
async function schemasOfMigrations(): Promise<{ readonly name: string; readonly schema: Schema }[]> {
  const database = await connectDatabase({ databaseUrl: 'sqlite::memory:', databasePoolMax: 1 });
  try {
    const schemas = [];
    for (const name of MIGRATIONS) {
      // Without Knex's own runner, whose loading would slow each start.
      const { up }: { up(knex: Knex): Promise<void> } = await import(pathToFileURL(join(MIGRATIONS_FOLDER, name)).href);
      await up(database.knex);
      schemas.push({ name, schema: await readSchema(database) });
    }
    return schemas;
  } finally {
    await database.close();
  }
}

/** The columns and indexes of each table, in words. */
type Schema = ReadonlyMap<string, readonly string[]>;

async function readSchema(database: Database): Promise<Schema> {
  type SchemaRow = { table: string; index: string | null; column: string };
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

/**
 * Compares a session's settings with those that the gateway sets: facts by name, and one line for each setting that the server
 * did not take. DatabaseFault `unavailable` when the database is away.
 */
export async function examineSession(database: Database) {
  if (database.engine === 'sqlite') return { facts: {}, problems: [] };
  const { client } = database.knex; // GatewayMysqlClient; Knex types it as any
  const { refused, prepared }: Awaited<ReturnType<MysqlPool['examine']>> = await database.run(client.examine);
  const problems = refused.map(
    ({ name, literal, value }) => `the server has ${name} = ${value}, the gateway sets ${literal}`,
  );
  const most = `${prepared.max}; each connection of a gateway has up to ${prepared.ofConnection}`;
  const session = `${problems.length === 0 ? 'as' : 'not as'} the gateway sets it`;
  return { facts: { session, 'prepared statements': `${prepared.count} of ${most}` }, problems };
}
