import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  if (await knex.schema.hasTable('idempotency_keys')) return;
  await knex.schema.createTable('idempotency_keys', (table) => {
    if (knex.client.driverName === 'mysql2') {
      table.charset('utf8mb4');
      table.collate('utf8mb4_bin');
    }
    // SHA-256 of the API key's id and the Idempotency-Key: one column of fixed length, compared exactly.
    table.string('id', 64).notNullable().primary();
    // SHA-256 of the input: tells a retry from another request under the same key.
    table.string('input_hash', 64).notNullable();
    table.bigInteger('pet_id').notNullable();
    table.bigInteger('created_at').notNullable().index('idempotency_keys_created_at');
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTableIfExists('idempotency_keys');
}
