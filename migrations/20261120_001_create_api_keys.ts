import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  if (await knex.schema.hasTable('api_keys')) return;
  const mysql = knex.client.driverName === 'mysql2';
  await knex.schema.createTable('api_keys', (table) => {
    if (mysql) {
      table.charset('utf8mb4');
      table.collate('utf8mb4_bin');
      table.specificType('id', 'bigint not null auto_increment primary key');
    } else {
      table.bigIncrements('id');
    }
    table.string('name', 255).notNullable();
    table.string('prefix', 32).notNullable();
    // SHA-256 in hexadecimal; the key itself is stored nowhere.
    table.string('hash', 64).notNullable().unique({ indexName: 'api_keys_hash' });
    // Moments are milliseconds since 1970 (UTC): exact and equal on both engines.
    table.bigInteger('created_at').notNullable();
    table.bigInteger('expires_at').nullable();
    table.bigInteger('last_used_at').nullable();
    table.bigInteger('revoked_at').nullable();
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTableIfExists('api_keys');
}
