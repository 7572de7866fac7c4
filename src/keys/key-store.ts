import type { Database } from '../database/connect.ts';
import type { Int64 } from '../int64.ts';
import { generateApiKey, hashApiKey, visiblePrefix } from './api-key.ts';

/** What is known of an API key; never the key itself. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  /** The beginning of the key, to tell keys apart. */
  readonly prefix: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  /** Written about once a minute while the key is in use. */
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** The API keys in the database. Every function is `service_unavailable` when the database is away. */
export interface KeyStore {
  /** Makes a key; the answer is the only place where it is ever seen. */
  create(options: { name: string; expiresAt: Date | null }): Promise<{ id: string; key: string }>;
  /** All keys, oldest first. */
  list(): Promise<ApiKey[]>;
  /** Revokes the key of `id`; false when there is none. A key stays revoked from the first time on. */
  revoke(id: Int64): Promise<boolean>;
  /** The key with this SHA-256, revoked and expired ones too. */
  findByHash(hash: string): Promise<ApiKey | undefined>;
  /** Notes the last use of a key, unless a later one is noted already. */
  noteLastUse(id: string, moment: Date): Promise<void>;
  count(): Promise<number>;
}

/** A row as both engines give it; moments are ms since 1970. */
interface ApiKeyRow {
  id: string | number;
  name: string;
  prefix: string;
  created_at: string | number;
  expires_at: string | number | null;
  last_used_at: string | number | null;
  revoked_at: string | number | null;
}

const COLUMNS = ['id', 'name', 'prefix', 'created_at', 'expires_at', 'last_used_at', 'revoked_at'] as const;

/** The keys of this database. */
export function createKeyStore({ run }: Database): KeyStore {
  return {
    async create({ name, expiresAt }) {
      const key = generateApiKey();
      const row = {
        name,
        prefix: visiblePrefix(key),
        hash: hashApiKey(key),
        created_at: Date.now(),
        expires_at: expiresAt?.getTime() ?? null,
      };
      const [id] = await run((knex) => knex('api_keys').insert(row));
      return { id: String(id), key };
    },

    async list() {
      const rows = await run((knex) => knex('api_keys').select<ApiKeyRow[]>(COLUMNS).orderBy('id'));
      return rows.map(toApiKey);
    },

    async revoke(id) {
      const found = await run((knex) => knex('api_keys').where({ id }).first('id'));
      if (found === undefined) return false;
      await run((knex) => knex('api_keys').where({ id, revoked_at: null }).update({ revoked_at: Date.now() }));
      return true;
    },

    async findByHash(hash) {
      const row = await run((knex) => knex('api_keys').where({ hash }).first<ApiKeyRow | undefined>(COLUMNS));
      return row && toApiKey(row);
    },

    async noteLastUse(id, moment) {
      const at = moment.getTime();
      await run((knex) =>
        knex('api_keys')
          .where({ id })
          .andWhere((earlier) => earlier.whereNull('last_used_at').orWhere('last_used_at', '<', at))
          .update({ last_used_at: at }),
      );
    },

    async count() {
      const [row] = await run((knex) => knex('api_keys').count({ keys: '*' }));
      return Number(row?.keys ?? 0);
    },
  };
}

function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: String(row.id),
    name: row.name,
    prefix: row.prefix,
    createdAt: new Date(Number(row.created_at)),
    expiresAt: toDate(row.expires_at),
    lastUsedAt: toDate(row.last_used_at),
    revokedAt: toDate(row.revoked_at),
  };
}

function toDate(moment: string | number | null): Date | null {
  return moment === null ? null : new Date(Number(moment));
}
