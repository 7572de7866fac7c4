import type { Knex } from 'knex';

// What docs/adding.md tells of a new field with a filter. MySQL commits each statement by itself, so each looks first.

export async function up(knex: Knex): Promise<void> {
  if (!(await knex.schema.hasColumn('pets', 'label')))
    await knex.raw('ALTER TABLE pets ADD COLUMN label varchar(40) NULL');
  if (!(await hasIndex(knex))) await knex.raw('CREATE INDEX pets_label_id ON pets (label, id)');
}

export async function down(knex: Knex): Promise<void> {
  if (await hasIndex(knex)) await knex.schema.alterTable('pets', (table) => table.dropIndex([], 'pets_label_id'));
  // Knex would make SQLite's table anew for this, which SQLite does by itself: https://www.sqlite.org/lang_altertable.html
  if (await knex.schema.hasColumn('pets', 'label')) await knex.raw('ALTER TABLE pets DROP COLUMN label');
}

async function hasIndex(knex: Knex): Promise<boolean> {
  const isMysql = knex.client.driverName === 'mysql2';
  const found = await knex.raw(
    isMysql
      ? "SHOW INDEX FROM pets WHERE Key_name = 'pets_label_id'"
      : "SELECT 1 FROM sqlite_master WHERE name = 'pets_label_id'",
  );
  return (isMysql ? found[0] : found).length > 0;
}
