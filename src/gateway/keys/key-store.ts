import type { Knex } from 'knex';
import type { Deadline } from '../../lib/deadline/deadline.ts';
import type { Int64 } from '../../lib/exact-json/exact-json.ts';
import { type Database, NOW_MS } from '../database/connect.ts';
import { generateApiKey, hashApiKey, visiblePrefix } from './api-key.ts';

/** The stored facts of an API key; never the key itself. */
export type StoredKey = ReturnType<typeof toStoredKey>;

/** The API keys of a database. */
export type KeyStore = ReturnType<typeof createKeyStore>;

type NewKey = Pick<StoredKey, 'name' | 'expiresAt'> & { readonly readOnly?: boolean };

const WEEK_MS = 604_800_000;
const TIMES = ['created_at', 'expires_at', 'last_used_at', 'revoked_at'] as const; // in ms since 1970
const COLUMNS = ['id', 'owner_id', 'name', 'prefix', 'read_only', ...TIMES] as const;
type ApiKeyRow = Record<(typeof COLUMNS)[number], string | number | null>;

/**
 * Creates, finds and revokes the API keys of a database. Stored times are by the database's clock. All functions throw
 * DatabaseFault `unavailable` when the database is away.
 */
export function createKeyStore({ run, query, engine }: Database) {
  const now = NOW_MS[engine];
  // Prepared: on SQLite such a query has a connection of its own, so it does not wait for another process's write.
  const findByHash = `SELECT ${COLUMNS.join(', ')}, ${now} AS now FROM api_keys WHERE hash = ?`;
  return {
    /** Creates a key; gives its id and the key itself, which is not stored. */
    create: (newKey: NewKey) => run((knex) => insertKey(knex, now, newKey)),

    /**
     * Creates a key with the name, rights and lifetime of the key `id`. The old key expires after `graceMs`, or at its own
     * expiry if that is earlier. Undefined when there is no such key.
     */
    rotate: (id: Int64, graceMs: number) => run((knex) => knex.transaction((trx) => rotateKey(trx, now, id, graceMs))),

    list: async () =>
      (await run((knex) => knex('api_keys').select<ApiKeyRow[]>(COLUMNS).orderBy('id'))).map(toStoredKey),

    /** Revokes a key; false when there is none. The time of the first revocation stays. */
    async revoke(id: Int64): Promise<boolean> {
      const moment = `COALESCE(revoked_at, ${now})`;
      const found = await run((knex) => knex('api_keys').where('id', id).update('revoked_at', knex.raw(moment)));
      return found > 0;
    },

    /** The key with this SHA-256, also a revoked or expired one; `expiresAt` by the clock of this process. */
    async findByHash(hash: string, deadline?: Deadline): Promise<StoredKey | undefined> {
      const [row] = await query<ApiKeyRow & { now: string | number }>(findByHash, [hash], deadline);
      if (row === undefined) return undefined;
      const key = toStoredKey(row);
      const aheadMs = Date.now() - Number(row.now);
      return { ...key, expiresAt: key.expiresAt && new Date(key.expiresAt.getTime() + aheadMs) };
    },

    /** Writes when keys were last used (ms since 1970 by id, a few hundred at most). A later stored time stays. */
    async noteLastUses(uses: ReadonlyMap<string, number>): Promise<void> {
      const ids = [...uses.keys()].sort(); // all processes lock in the same order, so that they do not deadlock
      const later = `CASE id ${ids.map(() => 'WHEN ? THEN ?').join(' ')} END`;
      const moments = ids.flatMap((id) => [id, uses.get(id) ?? 0]);
      // On both engines WHERE sees a row's old value.
      const sql = `UPDATE api_keys SET last_used_at = ${later}
        WHERE id IN (${ids.map(() => '?').join(', ')}) AND (last_used_at IS NULL OR last_used_at < ${later})`;
      await run((knex) => knex.raw(sql, [...moments, ...ids, ...moments]), { idempotent: true });
    },

    /** The number of valid keys that expire within a week. One that `rotate` has replaced by a valid one does not count. */
    async countExpiring(): Promise<number> {
      // Of the keys that replace each other, the one that ends last.
      const chains = `SELECT MAX(COALESCE(expires_at, ${now} + ${WEEK_MS})) AS expiry FROM api_keys
        WHERE revoked_at IS NULL GROUP BY COALESCE(owner_id, id)`;
      const sql = `SELECT COUNT(*) AS expiring FROM (${chains}) AS chains
        WHERE expiry > ${now} AND expiry < ${now} + ${WEEK_MS}`;
      const [row] = await query<{ expiring: string | number }>(sql, [], undefined);
      return Number(row?.expiring);
    },

    count: async () => Number((await run((knex) => knex('api_keys').count({ keys: '*' })))[0]?.keys),
  };
}

async function insertKey(knex: Knex, now: string, newKey: NewKey, ownerId: string | null = null) {
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

/** Gives the old key, its new expiry, and the new key. `created` is undefined when the old key was no longer valid. */
async function rotateKey(trx: Knex, nowSql: string, id: Int64, graceMs: number) {
  const row = await trx('api_keys').where({ id }).forUpdate().first(COLUMNS);
  if (row === undefined) return undefined;
  const old = toStoredKey(row);
  const { name, readOnly, ownerId } = old;
  // Asked behind the lock: a statement's time is that of its beginning, and another rotation may have ended the key meanwhile.
  const now = Number((await trx.first(trx.raw(`${nowSql} AS now`))).now);
  const expiry = endOf(old);
  const endsAt = new Date(Math.min(now + graceMs, expiry));
  if (old.revokedAt !== null || expiry <= now) return { old, created: undefined, endsAt };
  // The longest of the chain, because each rotation shortens the lifetime of the old key.
  const chain = (await trx('api_keys').where({ id: ownerId }).orWhere({ owner_id: ownerId })).map(toStoredKey);
  const lifetimeMs = Math.max(...chain.map((key) => endOf(key) - key.createdAt.getTime()));
  const expiresAt = Number.isFinite(lifetimeMs) ? new Date(Date.now() + lifetimeMs) : null;
  const created = { ...(await insertKey(trx, nowSql, { name, expiresAt, readOnly }, ownerId)), expiresAt };
  await trx('api_keys').where({ id }).update({ expires_at: endsAt.getTime() });
  return { old, created, endsAt };
}

function toStoredKey(row: ApiKeyRow) {
  return {
    id: String(row.id),
    /** The first key of a chain of rotations. */
    ownerId: String(row.owner_id ?? row.id),
    name: String(row.name),
    prefix: String(row.prefix),
    createdAt: new Date(Number(row.created_at)),
    expiresAt: toDate(row.expires_at),
    /** Written about once a minute. */
    lastUsedAt: toDate(row.last_used_at),
    revokedAt: toDate(row.revoked_at),
    readOnly: Number(row.read_only) === 1,
  };
}

const endOf = ({ expiresAt }: StoredKey) => expiresAt?.getTime() ?? Number.POSITIVE_INFINITY;

const toDate = (moment: string | number | null) => (moment === null ? null : new Date(Number(moment)));
