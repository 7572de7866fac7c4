import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  if (knex.client.driverName === 'mysql2') {
    // hash: SHA-256 in hexadecimal; the key itself is stored nowhere. Moments are milliseconds since 1970 (UTC): exact
    // and equal on both engines. owner_id: the first key of a chain of rotations; null for a key that replaces none.
    await knex.raw(`CREATE TABLE IF NOT EXISTS api_keys (
      id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
      name varchar(255) NOT NULL,
      prefix varchar(32) NOT NULL,
      hash varchar(64) NOT NULL,
      created_at bigint NOT NULL,
      expires_at bigint NULL,
      last_used_at bigint NULL,
      revoked_at bigint NULL,
      read_only boolean NOT NULL DEFAULT false,
      owner_id bigint NULL,
      UNIQUE INDEX api_keys_hash (hash)
    ) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`);
    return;
  }
  if (await knex.schema.hasTable('api_keys')) return;
  await knex.schema.createTable('api_keys', (table) => {
    table.bigIncrements('id');
    table.string('name', 255).notNullable();
    table.string('prefix', 32).notNullable();
    table.string('hash', 64).notNullable().unique({ indexName: 'api_keys_hash' });
    table.bigInteger('created_at').notNullable();
    table.bigInteger('expires_at').nullable();
    table.bigInteger('last_used_at').nullable();
    table.bigInteger('revoked_at').nullable();
    table.boolean('read_only').notNullable().defaultTo(false);
    table.bigInteger('owner_id').nullable();
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTableIfExists('api_keys');
}
