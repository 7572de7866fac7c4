import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  if (knex.client.driverName === 'mysql2') {
    // id: SHA-256 of the operation, the API key's owner and the Idempotency-Key: one column of fixed length, compared exactly.
    // input_hash: SHA-256 of the input, tells a retry from another request under the same key. result_id: what was created.
    await knex.raw(`CREATE TABLE IF NOT EXISTS idempotency_keys (
      id varchar(64) NOT NULL PRIMARY KEY,
      input_hash varchar(64) NOT NULL,
      result_id bigint NOT NULL,
      created_at bigint NOT NULL,
      INDEX idempotency_keys_created_at (created_at)
    ) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`);
    return;
  }
  if (await knex.schema.hasTable('idempotency_keys')) return;
  await knex.schema.createTable('idempotency_keys', (table) => {
    table.string('id', 64).notNullable().primary();
    table.string('input_hash', 64).notNullable();
    table.bigInteger('result_id').notNullable();
    table.bigInteger('created_at').notNullable().index('idempotency_keys_created_at');
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTableIfExists('idempotency_keys');
}
