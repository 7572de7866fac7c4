import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  if (await knex.schema.hasTable('deprecated_use')) return;
  await knex.schema.createTable('deprecated_use', (table) => {
    if (knex.client.driverName === 'mysql2') {
      table.charset('utf8mb4');
      table.collate('utf8mb4_bin');
    }
    table.bigInteger('api_key_id').notNullable();
    // The REST operation or the GraphQL coordinate, such as getPet or Query.pet.
    table.string('operation', 64).notNullable();
    // The day (UTC) as a number such as 20261120.
    table.integer('day').notNullable();
    table.bigInteger('uses').notNullable();
    table.bigInteger('last_seen_at').notNullable();
    table.primary(['api_key_id', 'operation', 'day']);
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTableIfExists('deprecated_use');
}
