import type { Knex } from 'knex';

// Earlier releases added keys and indexes on MySQL by a statement of their own after CREATE TABLE. A runner that was cut in
// between left a table without them, and the next one took it for done. SQLite undoes half a migration by itself.

const PRIMARY_KEYS: readonly (readonly [table: string, columns: string])[] = [
  ['idempotency_keys', 'id'],
  ['deprecated_use', 'api_key_id, operation, day'],
];

const INDEXES: readonly (readonly [table: string, name: string, definition: string])[] = [
  ['pets', 'pets_status_id', 'INDEX pets_status_id (status, id)'],
  ['api_keys', 'api_keys_hash', 'UNIQUE INDEX api_keys_hash (hash)'],
  ['idempotency_keys', 'idempotency_keys_created_at', 'INDEX idempotency_keys_created_at (created_at)'],
];

export async function up(knex: Knex): Promise<void> {
  if (knex.client.driverName !== 'mysql2') return;
  for (const [table, columns] of PRIMARY_KEYS) await ensurePrimaryKey(knex, table, columns);
  for (const [table, name, definition] of INDEXES) {
    if ((await knex.schema.hasTable(table)) && !(await hasIndex(knex, table, name)))
      await knex.raw(`ALTER TABLE ${table} ADD ${definition}`);
  }
}

/** A table that was without its key may hold a row twice: the first one stays. Every step may be cut and begun again. */
async function ensurePrimaryKey(knex: Knex, table: string, columns: string): Promise<void> {
  await knex.raw(`DROP TABLE IF EXISTS ${table}_cut, ${table}_whole`);
  if (!(await knex.schema.hasTable(table)) || (await hasIndex(knex, table, 'PRIMARY'))) return;
  await knex.raw(`CREATE TABLE ${table}_whole LIKE ${table}`);
  await knex.raw(`ALTER TABLE ${table}_whole ADD PRIMARY KEY (${columns})`);
  await knex.raw(`INSERT IGNORE INTO ${table}_whole SELECT * FROM ${table}`);
  await knex.raw(`RENAME TABLE ${table} TO ${table}_cut, ${table}_whole TO ${table}`);
  await knex.raw(`DROP TABLE ${table}_cut`);
}

async function hasIndex(knex: Knex, table: string, name: string): Promise<boolean> {
  const [rows] = await knex.raw('SHOW INDEX FROM ?? WHERE Key_name = ?', [table, name]);
  return rows.length > 0;
}

export async function down(): Promise<void> {} // what was repaired stays so
