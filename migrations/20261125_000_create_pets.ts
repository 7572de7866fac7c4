import type { Knex } from 'knex';

// MySQL commits every statement by itself, so a runner that was killed half-way leaves behind what no record tells of:
// each step is one statement that does no harm when it is done already. Knex would add indexes by a second one.
// Engine, row format, character set and collation are named: what a server would take by default is not ours to know.

export async function up(knex: Knex): Promise<void> {
  if (knex.client.driverName === 'mysql2') {
    // MEDIUMTEXT: the longest name that an operator may allow in a body (4 MiB) fits.
    await knex.raw(`CREATE TABLE IF NOT EXISTS pets (
      id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
      name mediumtext NOT NULL,
      category_id bigint NOT NULL,
      status enum('available', 'pending', 'sold') NULL,
      INDEX pets_status_id (status, id)
    ) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`);
    return;
  }
  if (await knex.schema.hasTable('pets')) return;
  await knex.schema.createTable('pets', (table) => {
    table.bigIncrements('id');
    table.text('name').notNullable();
    table.bigInteger('category_id').notNullable();
    table.enum('status', ['available', 'pending', 'sold']).nullable();
    // SQLite appends the primary key; naming it makes the keyset order explicit.
    table.index(['status', 'id'], 'pets_status_id');
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTableIfExists('pets');
}
