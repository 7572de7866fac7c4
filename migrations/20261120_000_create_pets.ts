import type { Knex } from 'knex';

// Each step asks first whether it is done: MySQL commits every table by itself, so a runner that was
// killed half-way leaves tables behind that no record tells of.

export async function up(knex: Knex): Promise<void> {
  if (await knex.schema.hasTable('pets')) return;
  const mysql = knex.client.driverName === 'mysql2';
  await knex.schema.createTable('pets', (table) => {
    if (mysql) {
      table.charset('utf8mb4');
      table.collate('utf8mb4_bin');
      // Knex's bigIncrements is unsigned: ids are int64, which is signed.
      table.specificType('id', 'bigint not null auto_increment primary key');
    } else {
      table.bigIncrements('id');
    }
    // MEDIUMTEXT: the longest name that an operator may allow in a body (4 MiB) fits.
    table.text('name', 'mediumtext').notNullable();
    table.bigInteger('category_id').notNullable();
    table.enum('status', ['available', 'pending', 'sold']).nullable();
    // InnoDB and SQLite both append the primary key; naming it makes the keyset order explicit.
    table.index(['status', 'id'], 'pets_status_id');
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTableIfExists('pets');
}
