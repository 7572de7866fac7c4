import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  if (knex.client.driverName === 'mysql2') {
    // operation: the REST operation or the GraphQL coordinate, such as getPet or Query.pet. day: of UTC, as a number such
    // as 20261120.
    await knex.raw(`CREATE TABLE IF NOT EXISTS deprecated_use (
      api_key_id bigint NOT NULL,
      operation varchar(64) NOT NULL,
      day int NOT NULL,
      uses bigint NOT NULL,
      last_seen_at bigint NOT NULL,
      PRIMARY KEY (api_key_id, operation, day)
    ) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`);
    return;
  }
  if (await knex.schema.hasTable('deprecated_use')) return;
  await knex.schema.createTable('deprecated_use', (table) => {
    table.bigInteger('api_key_id').notNullable();
    table.string('operation', 64).notNullable();
    table.integer('day').notNullable();
    table.bigInteger('uses').notNullable();
    table.bigInteger('last_seen_at').notNullable();
    table.primary(['api_key_id', 'operation', 'day']);
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTableIfExists('deprecated_use');
}
