import type { Database } from '../../src/gateway/database/connect.ts';
import { KINDS } from '../../src/gateway/kinds.ts';
import type { Service } from '../../src/gateway/service.ts';
import { columnsOf, type Table } from '../../src/gateway/store/table.ts';

/** Makes the tables of a service from its descriptions alone, as a migration of its own would. */
export async function makeTables(database: Database, { resources }: Service): Promise<void> {
  const collation = database.engine === 'mysql' ? await exactCollation(database) : undefined;
  for (const { table } of resources) await database.run((knex) => knex.raw(createTable(table, collation)));
  if (database.engine === 'mysql') return;
  for (const { table } of resources) {
    for (const { column, index } of columnsOf(table)) {
      if (index) await database.run((knex) => knex.raw(`CREATE INDEX ${index} ON ${table.name} (${column}, id)`));
    }
  }
}

/** The collation for which only equal texts are equal: MariaDB and MySQL call it differently. */
async function exactCollation({ knex }: Database): Promise<string> {
  const [[found]] = await knex.raw("SHOW COLLATION WHERE Collation IN ('utf8mb4_nopad_bin', 'utf8mb4_0900_bin')");
  return found.Collation;
}

function createTable(table: Table, collation: string | undefined): string {
  const parts = columnsOf(table).map(({ name, column, isOptional }) => {
    const field = table.fields[name] as Table['fields'][string]; // of the same table
    const { maxLength } = { maxLength: undefined, ...field };
    const [longest] = KINDS[field.kind].columns.slice(-1);
    const type = field.kind === 'word' ? 'varchar(100)' : maxLength === undefined ? longest : `varchar(${maxLength})`;
    return `${column} ${type} ${isOptional ? '' : 'NOT NULL'}`;
  });
  if (collation === undefined) {
    return `CREATE TABLE ${table.name} (id integer PRIMARY KEY AUTOINCREMENT, ${parts.join(', ')})`;
  }
  const indexes = columnsOf(table).flatMap(({ column, index }) => (index ? [`INDEX ${index} (${column}, id)`] : []));
  const columns = ['id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY', ...parts, ...indexes].join(', ');
  return `CREATE TABLE ${table.name} (${columns}) DEFAULT CHARACTER SET utf8mb4 COLLATE ${collation}`;
}
