import knexFactory from 'knex';
import { NodeSqliteClient } from './node-sqlite-client.ts';
import type { PetRow } from './pet-rules.ts';
import { PETS_BY_STATUS, type PetStore } from './pet-store.ts';
import { settings } from './settings.ts';

const COLUMNS = ['id', 'name', 'category_id', 'status'];
const SQLITE = 'sqlite:';

/** The animals through Knex's query builder, on mysql2 or on the embedded SQLite. */
export function createKnexStore(): PetStore {
  const mysql = !settings.databaseUrl.startsWith(SQLITE);
  const knex = mysql ? connectMysql() : connectSqlite();
  const filtered = knex.raw(mysql ? PETS_BY_STATUS : 'pets');
  return {
    listPets({ limit, status, after }) {
      const query = knex('pets')
        .select<PetRow[]>(COLUMNS)
        .orderBy('id')
        .limit(limit + 1);
      if (status !== undefined) query.from(filtered).where('status', status);
      if (after !== undefined) query.where('id', '>', String(after));
      return query;
    },

    getPet: (id) => knex('pets').where('id', String(id)).first<PetRow | undefined>(COLUMNS),

    async addPet({ name, categoryId, status }) {
      const [id = 0] = await knex('pets').insert({ name, category_id: String(categoryId), status });
      return { id, name, category_id: String(categoryId), status };
    },

    async hasKey(hash) {
      const alive = knex('api_keys').where({ hash }).whereNull('revoked_at').first('id');
      alive.where((expiry) => expiry.whereNull('expires_at').orWhere('expires_at', '>', Date.now()));
      return (await alive) !== undefined;
    },
  };
}

function connectMysql() {
  return knexFactory({
    client: 'mysql2',
    connection: { uri: settings.databaseUrl, supportBigNumbers: true },
    pool: { min: 0, max: settings.poolMax },
  });
}

function connectSqlite() {
  const filename = settings.databaseUrl.slice(SQLITE.length);
  return knexFactory({ client: NodeSqliteClient, connection: { filename }, useNullAsDefault: true });
}
