import { expect, test } from 'vitest';
import { KINDS } from '../../src/gateway/kinds.ts';
import { columnsOf } from '../../src/gateway/store/table.ts';
import { PETSTORE } from '../../src/petstore/petstore.ts';
import { describeOnMysql } from '../support/engines.ts';
import { prepareDatabase } from '../support/prepared.ts';

interface ColumnRow {
  readonly name: string;
  readonly type: string;
  readonly nullable: string;
}

// SQLite keeps what it is given, but a text in a numeric column: https://www.sqlite.org/datatype3.html#type_affinity
describeOnMysql('every field', (engine) => {
  test('has a column that holds its kind exactly, and may be null as the field may be absent', async () => {
    const { database } = await prepareDatabase(engine);
    for (const { table } of PETSTORE.resources) {
      const [rows = []]: ColumnRow[][] = await database.knex.raw(
        'SELECT column_name AS name, data_type AS type, is_nullable AS nullable FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ?',
        [table.name],
      );
      const byName = new Map(rows.map((row) => [row.name, row]));
      for (const { name, column, isOptional } of columnsOf(table)) {
        const kind = table.fields[name]?.kind ?? 'text';
        expect(KINDS[kind].columns, `${table.name}.${column} for a ${kind}`).toContain(byName.get(column)?.type);
        expect(byName.get(column)?.nullable, `${table.name}.${column}`).toBe(isOptional ? 'YES' : 'NO');
      }
    }
    expect(PETSTORE.resources.length).toBeGreaterThan(0);
  });
});
