import type { Knex } from 'knex';

/**
 * A key that `keys rotate` made says whose it is: the id of the first key of its line, under which idempotency records are.
 * Null for a key that replaces none, and for keys of earlier versions, which each are their own.
 */
export async function up(knex: Knex): Promise<void> {
  if (await knex.schema.hasColumn('api_keys', 'owner_id')) return;
  await knex.schema.alterTable('api_keys', (table) => {
    table.bigInteger('owner_id').nullable();
  });
}

export async function down(knex: Knex): Promise<void> {
  if (!(await knex.schema.hasColumn('api_keys', 'owner_id'))) return;
  // As for read_only: Knex would make SQLite's table anew.
  await knex.raw('ALTER TABLE api_keys DROP COLUMN owner_id');
}
