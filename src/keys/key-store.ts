import type { Knex } from 'knex';
import { NOW_MS } from '../database/clock.ts';
import type { Database } from '../database/connect.ts';
import type { Deadline } from '../deadline.ts';
import type { Int64 } from '../int64.ts';
import { generateApiKey, hashApiKey, visiblePrefix } from './api-key.ts';

/** What is known of an API key; never the key itself. */
export interface ApiKey {
  readonly id: string;
  /** The first key of those that replaced each other; itself, if it replaced none. */
  readonly ownerId: string;
  readonly name: string;
  /** The beginning of the key, to tell keys apart. */
  readonly prefix: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  /** Written about once a minute while the key is in use. */
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
  /** Whether it may change nothing. */
  readonly readOnly: boolean;
}

/** What a key is made with. */
export interface NewKey {
  readonly name: string;
  readonly expiresAt: Date | null;
  /** Whether it may change nothing; by default it may do everything. */
  readonly readOnly?: boolean;
}

/** A key that was just made; the only place where it is ever seen. */
export interface CreatedKey {
  readonly id: string;
  readonly key: string;
}

/** What came of a rotation: the old key as it was, and the new one, unless the old one was not valid any more. */
export interface Rotation {
  readonly old: ApiKey;
  readonly created: (CreatedKey & { readonly expiresAt: Date | null }) | undefined;
  /** When the old key ends. */
  readonly endsAt: Date;
}

/** When a key was used last, by its id, in ms since 1970. */
export type LastUses = ReadonlyMap<string, number>;

/** The API keys in the database, by whose clock they begin and end. Every function is DatabaseFault `unavailable` when the database is away. */
export interface KeyStore {
  create(newKey: NewKey): Promise<CreatedKey>;
  /**
   * Makes a key with the name, the rights and the lifetime of the one of `id`, which ends after `graceMs`, or earlier if it
   * would anyway. Undefined when there is no such key.
   */
  rotate(id: Int64, graceMs: number): Promise<Rotation | undefined>;
  /** All keys, oldest first. */
  list(): Promise<ApiKey[]>;
  /** Revokes the key of `id`; false when there is none. A key stays revoked from the first time on. */
  revoke(id: Int64): Promise<boolean>;
  /** The key with this SHA-256, revoked and expired ones too; `expiresAt` by the clock of this process. */
  findByHash(hash: string, deadline?: Deadline): Promise<ApiKey | undefined>;
  /** The hashes of the keys made since a moment that are not revoked, the newest first, `most` at most. */
  hashesCreatedSince(moment: Date, most: number, deadline?: Deadline): Promise<string[]>;
  /** Notes the last uses of some hundred keys, but for those of which a later use is noted already. */
  noteLastUses(uses: LastUses): Promise<void>;
  count(): Promise<number>;
}

/** A row as both engines give it; moments are ms since 1970. */
interface ApiKeyRow {
  id: string | number;
  owner_id: string | number | null;
  name: string;
  prefix: string;
  created_at: string | number;
  expires_at: string | number | null;
  last_used_at: string | number | null;
  revoked_at: string | number | null;
  read_only: string | number;
}

const COLUMNS = 'id owner_id name prefix created_at expires_at last_used_at revoked_at read_only'.split(' ');

/** Prepared, and so on ways of their own: on SQLite, what waits for another process's write holds them up no more. */
const FIND_BY_HASH = (now: string) => `SELECT ${COLUMNS.join(', ')}, ${now} AS now FROM api_keys WHERE hash = ?`;

const HASHES_YOUNGER_THAN = (now: string) =>
  `SELECT hash FROM api_keys WHERE created_at >= ${now} - ? AND revoked_at IS NULL ORDER BY created_at DESC LIMIT ?`;

/** The keys of this database. */
export function createKeyStore({ run, query, engine }: Database): KeyStore {
  const now = NOW_MS[engine];
  const [findByHash, hashesYoungerThan] = [FIND_BY_HASH(now), HASHES_YOUNGER_THAN(now)];
  return {
    create: (newKey) => run((knex) => insertKey(knex, now, newKey)),

    rotate: (id, graceMs) => run((knex) => knex.transaction((trx) => rotateKey(trx, now, id, graceMs))),

    async list() {
      const rows = await run((knex) => knex('api_keys').select<ApiKeyRow[]>(COLUMNS).orderBy('id'));
      return rows.map(toApiKey);
    },

    async revoke(id) {
      const found = await run((knex) => knex('api_keys').where({ id }).first('id'));
      if (found === undefined) return false;
      await run((knex) =>
        knex('api_keys')
          .where({ id, revoked_at: null })
          .update({ revoked_at: knex.raw(now) }),
      );
      return true;
    },

    async findByHash(hash, deadline) {
      const [row] = await query<ApiKeyRow & { now: string | number }>(findByHash, [hash], deadline);
      if (row === undefined) return undefined;
      const key = toApiKey(row);
      const aheadMs = Date.now() - Number(row.now);
      return { ...key, expiresAt: key.expiresAt && new Date(key.expiresAt.getTime() + aheadMs) };
    },

    async hashesCreatedSince(moment, most, deadline) {
      const ageMs = Date.now() - moment.getTime();
      const rows = await query<{ hash: string }>(hashesYoungerThan, [ageMs, most], deadline);
      return rows.map(({ hash }) => hash);
    },

    async noteLastUses(uses) {
      const ids = [...uses.keys()].sort(); // in one order everywhere: two processes never wait for each other
      const later = `CASE id ${ids.map(() => 'WHEN ? THEN ?').join(' ')} END`;
      const moments = ids.flatMap((id) => [id, uses.get(id) ?? 0]);
      // One statement: on both engines a row's old value is what WHERE sees.
      const sql = `UPDATE api_keys SET last_used_at = ${later}
        WHERE id IN (${ids.map(() => '?').join(', ')}) AND (last_used_at IS NULL OR last_used_at < ${later})`;
      await run((knex) => knex.raw(sql, [...moments, ...ids, ...moments]), { repeatable: true });
    },

    async count() {
      const [row] = await run((knex) => knex('api_keys').count({ keys: '*' }));
      return Number(row?.keys ?? 0);
    },
  };
}

async function insertKey(knex: Knex, now: string, newKey: NewKey, ownerId: string | null = null): Promise<CreatedKey> {
  const { name, expiresAt, readOnly = false } = newKey;
  const key = generateApiKey();
  const [id] = await knex('api_keys').insert({
    name,
    prefix: visiblePrefix(key),
    hash: hashApiKey(key),
    created_at: knex.raw(now),
    expires_at: expiresAt && knex.raw(`${now} + ?`, [expiresAt.getTime() - Date.now()]),
    read_only: readOnly,
    owner_id: ownerId,
  });
  return { id: String(id), key };
}

async function rotateKey(trx: Knex, nowSql: string, id: Int64, graceMs: number): Promise<Rotation | undefined> {
  const row = await trx('api_keys')
    .where({ id })
    .forUpdate()
    .first([...COLUMNS, trx.raw(`${nowSql} AS now`)]);
  if (row === undefined) return undefined;
  const old = toApiKey(row);
  const { name, readOnly, createdAt, ownerId } = old;
  const now = Number(row.now);
  const expiry = old.expiresAt?.getTime() ?? null;
  const endsAt = new Date(Math.min(now + graceMs, expiry ?? Number.POSITIVE_INFINITY));
  if (old.revokedAt !== null || endsAt.getTime() < now) return { old, created: undefined, endsAt };
  const expiresAt = expiry === null ? null : new Date(Date.now() + expiry - createdAt.getTime());
  const created = { ...(await insertKey(trx, nowSql, { name, expiresAt, readOnly }, ownerId)), expiresAt };
  await trx('api_keys').where({ id }).update({ expires_at: endsAt.getTime() });
  return { old, created, endsAt };
}

function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: String(row.id),
    ownerId: String(row.owner_id ?? row.id),
    name: row.name,
    prefix: row.prefix,
    createdAt: new Date(Number(row.created_at)),
    expiresAt: toDate(row.expires_at),
    lastUsedAt: toDate(row.last_used_at),
    revokedAt: toDate(row.revoked_at),
    readOnly: Number(row.read_only) === 1,
  };
}

function toDate(moment: string | number | null): Date | null {
  return moment === null ? null : new Date(Number(moment));
}
