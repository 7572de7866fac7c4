import type { Knex } from 'knex';

// Earlier releases left the engine to the server's default_storage_engine. One such as MyISAM or Aria undoes nothing: a create
// and its idempotency record were not both there or neither. Knex's own tables still follow the server's default.

export async function up(knex: Knex): Promise<void> {
  if (knex.client.driverName !== 'mysql2') return;
  const tables = ['pets', 'api_keys', 'idempotency_keys', 'deprecated_use', 'knex_migrations', 'knex_migrations_lock'];
  // A view has no engine.
  const [others] = await knex.raw(
    `SELECT table_name AS name FROM information_schema.tables
      WHERE table_schema = DATABASE() AND engine <> 'InnoDB' AND table_name IN (?)`,
    [tables],
  );
  for (const { name } of others) await knex.raw('ALTER TABLE ?? ENGINE=InnoDB ROW_FORMAT=DYNAMIC', [name]);
}

export async function down(): Promise<void> {} // what was repaired stays so
