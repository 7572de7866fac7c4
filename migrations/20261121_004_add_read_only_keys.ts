import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  if (await knex.schema.hasColumn('api_keys', 'read_only')) return;
  // With a default: gateways of before, which know no such column, may go on making keys meanwhile.
  await knex.schema.alterTable('api_keys', (table) => {
    table.boolean('read_only').notNullable().defaultTo(false);
  });
}

export async function down(knex: Knex): Promise<void> {
  if (!(await knex.schema.hasColumn('api_keys', 'read_only'))) return;
  // Knex would make SQLite's table anew for this, which SQLite does by itself: https://www.sqlite.org/lang_altertable.html
  await knex.raw('ALTER TABLE api_keys DROP COLUMN read_only');
}
