import type { Deadline } from '../../lib/deadline/deadline.ts';
import type { Int64 } from '../../lib/exact-json/exact-json.ts';
import type { Database } from '../database/connect.ts';
import { requireFit, sizeOf } from './row-adder.ts';
import { bindValue, type Changes, columnsOf, type Table } from './table.ts';

/** Creates the functions that change and remove the row of an id. Without such a row they do nothing. */
export function createRowChanger<T extends Table>(database: Database, table: T) {
  const columns = columnsOf(table);
  return {
    /** Sets the values that are given. DatabaseFault `tooLarge` if the statement exceeds max_allowed_packet. */
    async change(id: Int64, changes: Changes<T>, deadline: Deadline): Promise<void> {
      const given = changes as Readonly<Record<string, unknown>>; // its values by their names
      const values = columns
        .map(({ name, column, kind }) => [column, bindValue(kind, given[name])] as const)
        .filter(([, value]) => value !== null);
      if (values.length === 0) return;
      requireFit(database, sizeOf(values.map(([, value]) => value)));
      const set = Object.fromEntries(values);
      // It sets values, so it may be done twice.
      const options = { idempotent: true, deadline };
      await database.run(
        (knex) =>
          knex(table.name)
            .where({ id: BigInt(id) })
            .update(set),
        options,
      );
    },
    /** Removes the row: true for the one call that did. */
    async remove(id: Int64, deadline: Deadline): Promise<boolean> {
      // Done twice, it would say that there was no row: it is not idempotent.
      const count = await database.run(
        (knex) =>
          knex(table.name)
            .where({ id: BigInt(id) })
            .delete(),
        { deadline },
      );
      return count > 0;
    },
  };
}
