import { DatabaseSync } from 'node:sqlite';
import mysql from 'mysql2/promise';
import { generateApiKey, hashApiKey, visiblePrefix } from '../../src/gateway/keys/api-key.ts';
import type { TestEngine } from '../support/engines.ts';

/** The tables as the code of before 1.0.0 made them, in the words of the engine itself. */
const TABLES: Readonly<Record<TestEngine['name'], readonly string[]>> = {
  sqlite: [
    'CREATE TABLE `knex_migrations` (`id` integer not null primary key autoincrement, `name` varchar(255), `batch` integer, `migration_time` datetime)',
    'CREATE TABLE `knex_migrations_lock` (`index` integer not null primary key autoincrement, `is_locked` integer)',
    "CREATE TABLE `pets` (`id` integer not null primary key autoincrement, `name` text not null, `category_id` bigint not null, `status` text check (`status` in ('available', 'pending', 'sold')) null)",
    'CREATE INDEX `pets_status_id` on `pets` (`status`, `id`)',
    "CREATE TABLE `api_keys` (`id` integer not null primary key autoincrement, `name` varchar(255) not null, `prefix` varchar(32) not null, `hash` varchar(64) not null, `created_at` bigint not null, `expires_at` bigint null, `last_used_at` bigint null, `revoked_at` bigint null, `read_only` boolean not null default '0', `owner_id` bigint null)",
    'CREATE UNIQUE INDEX `api_keys_hash` on `api_keys` (`hash`)',
    'CREATE TABLE `idempotency_keys` (`id` varchar(64) not null, `input_hash` varchar(64) not null, `pet_id` bigint not null, `created_at` bigint not null, `result_id` bigint null, primary key (`id`))',
    'CREATE INDEX `idempotency_keys_created_at` on `idempotency_keys` (`created_at`)',
    'CREATE TABLE `deprecated_use` (`api_key_id` bigint not null, `operation` varchar(64) not null, `day` integer not null, `uses` bigint not null, `last_seen_at` bigint not null, primary key (`api_key_id`, `operation`, `day`))',
  ],
  mysql: [
    'CREATE TABLE `knex_migrations` (`id` int unsigned NOT NULL AUTO_INCREMENT, `name` varchar(255) DEFAULT NULL, `batch` int DEFAULT NULL, `migration_time` timestamp NULL DEFAULT NULL, PRIMARY KEY (`id`)) ENGINE=InnoDB',
    'CREATE TABLE `knex_migrations_lock` (`index` int unsigned NOT NULL AUTO_INCREMENT, `is_locked` int DEFAULT NULL, PRIMARY KEY (`index`)) ENGINE=InnoDB',
    ...[
      "CREATE TABLE `pets` (`id` bigint NOT NULL AUTO_INCREMENT, `name` mediumtext NOT NULL, `category_id` bigint NOT NULL, `status` enum('available','pending','sold') DEFAULT NULL, PRIMARY KEY (`id`), KEY `pets_status_id` (`status`,`id`))",
      'CREATE TABLE `api_keys` (`id` bigint NOT NULL AUTO_INCREMENT, `name` varchar(255) NOT NULL, `prefix` varchar(32) NOT NULL, `hash` varchar(64) NOT NULL, `created_at` bigint NOT NULL, `expires_at` bigint DEFAULT NULL, `last_used_at` bigint DEFAULT NULL, `revoked_at` bigint DEFAULT NULL, `read_only` tinyint(1) NOT NULL DEFAULT 0, `owner_id` bigint DEFAULT NULL, PRIMARY KEY (`id`), UNIQUE KEY `api_keys_hash` (`hash`))',
      'CREATE TABLE `idempotency_keys` (`id` varchar(64) NOT NULL, `input_hash` varchar(64) NOT NULL, `pet_id` bigint NOT NULL, `created_at` bigint NOT NULL, `result_id` bigint DEFAULT NULL, PRIMARY KEY (`id`), KEY `idempotency_keys_created_at` (`created_at`))',
      'CREATE TABLE `deprecated_use` (`api_key_id` bigint NOT NULL, `operation` varchar(64) NOT NULL, `day` int NOT NULL, `uses` bigint NOT NULL, `last_seen_at` bigint NOT NULL, PRIMARY KEY (`api_key_id`,`operation`,`day`))',
    ].map((table) => `${table} ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC`),
  ],
};

const MIGRATIONS = [
  '20261120_000_create_pets.ts',
  '20261120_001_create_api_keys.ts',
  '20261120_002_create_idempotency_keys.ts',
  '20261120_003_create_deprecated_use.ts',
  '20261121_004_add_read_only_keys.ts',
  '20261121_005_any_idempotent_create.ts',
  '20261121_006_repair_cut_migrations.ts',
  '20261122_007_transactional_tables.ts',
  '20261122_008_key_owners.ts',
];

/** The API keys of the store: one that is its own, one that may only read, one that replaced the first, one that is revoked. */
export const KEYS = {
  full: generateApiKey(),
  readOnly: generateApiKey(),
  rotated: generateApiKey(),
  revoked: generateApiKey(),
};

const keyRow = (key: string, id: number, revokedAt: string, readOnly: number, ownerId: string) =>
  `(${id}, 'key ${id}', '${visiblePrefix(key)}', '${hashApiKey(key)}', 1795000000000, NULL, 1795000000001, ${revokedAt}, ${readOnly}, ${ownerId})`;

const ROWS = [
  `INSERT INTO knex_migrations (name, batch) VALUES ${MIGRATIONS.map((name) => `('${name}', 1)`).join(', ')}`,
  'INSERT INTO knex_migrations_lock (is_locked) VALUES (0)',
  `INSERT INTO pets (id, name, category_id, status) VALUES
    (1, 'Bella', 3, 'available'), (2, '', -9223372036854775808, NULL), (7, 'Zoé "🐢" ''n'' co ', 0, 'pending'),
    (9007199254740993, 'Luna', 9223372036854775807, 'sold')`,
  `INSERT INTO api_keys (id, name, prefix, hash, created_at, expires_at, last_used_at, revoked_at, read_only, owner_id) VALUES
    ${keyRow(KEYS.full, 1, 'NULL', 0, 'NULL')}, ${keyRow(KEYS.readOnly, 3, 'NULL', 1, 'NULL')},
    ${keyRow(KEYS.rotated, 4, 'NULL', 0, '1')}, ${keyRow(KEYS.revoked, 9, '1795000000002', 0, 'NULL')}`,
  `INSERT INTO idempotency_keys VALUES ('${'a'.repeat(64)}', '${'b'.repeat(64)}', 7, 1795000000000, 7)`,
  "INSERT INTO deprecated_use VALUES (1, 'getPet', 20261120, 12, 1795000000000)",
];

/** Makes the store of a `DATABASE_URL` as the code of before 1.0.0 left it. */
export async function makeEarlierStore({ name }: TestEngine, url: string): Promise<void> {
  const statements = [...TABLES[name], ...ROWS];
  if (name === 'sqlite') {
    using store = new DatabaseSync(url.slice('sqlite:'.length));
    store.exec(['PRAGMA journal_mode = WAL', ...statements].join(';\n'));
    return;
  }
  const store = await mysql.createConnection({ uri: url, charset: 'utf8mb4' });
  for (const statement of statements) await store.query(statement);
  await store.end();
}

/** What a store has: each table with its rows, and all as text. */
export async function readStore({ name }: TestEngine, url: string): Promise<Record<string, string[][]>> {
  if (name === 'sqlite') {
    using store = new DatabaseSync(url.slice('sqlite:'.length), { readOnly: true });
    const rowsOf = (sql: string) => {
      const statement = store.prepare(sql);
      statement.setReadBigInts(true);
      return statement.all().map((row) => Object.values(row).map(String));
    };
    const tables = rowsOf("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'").flat();
    return Object.fromEntries(tables.map((table) => [table, rowsOf(`SELECT * FROM "${table}"`)]));
  }
  const options = { uri: url, charset: 'utf8mb4', supportBigNumbers: true, bigNumberStrings: true, rowsAsArray: true };
  const store = await mysql.createConnection(options);
  const [tables] = await store.query<mysql.RowDataPacket[][]>('SHOW TABLES');
  const rows = tables.flat().map(async (table) => {
    const [found] = await store.query<mysql.RowDataPacket[][]>(`SELECT * FROM \`${table}\``);
    return [String(table), found.map((row) => row.map(String))] as const;
  });
  return Object.fromEntries(await Promise.all(rows).finally(() => store.end()));
}
