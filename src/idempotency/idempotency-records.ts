import type { Knex } from 'knex';
import { createBatched } from '../database/batching.ts';
import { NOW_MS } from '../database/clock.ts';
import type { Database } from '../database/connect.ts';
import { means } from '../database/faults.ts';
import { type Int64, type Integer64, toInt64 } from '../int64.ts';

/** How long a retry gets the first answer again, in ms. */
const REPLAY_MS = 24 * 60 * 60 * 1000;

/** Records that one statement of the clean-up takes away. */
const SWEEP_BATCH = 500;

const TABLE = 'idempotency_keys';

/** A record to be made: `id` and `inputHash` are SHA-256 in hexadecimal. */
export interface Claim {
  readonly id: string;
  readonly inputHash: string;
  /** Whether a record of this id is there that has expired. */
  readonly renews: boolean;
}

/** Another process was first, between our look and our claim. */
export class TakenError extends Error {}

/** Other transactions hold records of these ids, there or not yet. */
export class HeldError extends Error {
  readonly ids: readonly string[];

  constructor(ids: readonly string[]) {
    super();
    this.ids = ids;
  }
}

interface Row {
  readonly id: string;
  readonly inputHash: string;
  readonly resultId: Integer64;
  readonly isExpired: Integer64;
}

/** The records of what was created under an Idempotency-Key. */
export function createRecords(database: Database) {
  const now = NOW_MS[database.engine];
  // Else the optimizer might read, and lock, all rows of a small table.
  const byKey = database.engine === 'mysql' ? ' FORCE INDEX (PRIMARY)' : '';
  const isExpired = `created_at <= ${now} - ${REPLAY_MS}`;
  // A record of an earlier version, which may run beside this one, has a pet_id only.
  const select = `SELECT id, input_hash AS inputHash, COALESCE(result_id, pet_id) AS resultId, ${isExpired} AS isExpired FROM ${TABLE}`;

  const insertOrRenew = async (transaction: Knex, claims: readonly Claim[]): Promise<void> => {
    const fresh = claims.filter(({ renews }) => !renews);
    if (fresh.length > 0) {
      const values = fresh.map(() => `(?, ?, 0, ${now})`).join(', ');
      const bindings = fresh.flatMap(({ id, inputHash }) => [id, inputHash]);
      await transaction.raw(`INSERT INTO ${TABLE} (id, input_hash, pet_id, created_at) VALUES ${values}`, bindings);
    }
    for (const { id, inputHash } of claims.filter(({ renews }) => renews)) {
      const expired = transaction(TABLE).where({ id }).whereRaw(isExpired);
      const renewed = await expired.update({ input_hash: inputHash, created_at: transaction.raw(now) });
      if (renewed !== 1) throw new TakenError();
    }
  };

  return {
    /** The record of an id; expired, its id is new again. */
    find: createBatched(database, { inFlight: 2, size: 32, keyOf: (id: string) => id }, async (ids, deadline) => {
      const marks = ids.map(() => '?').join(', ');
      const rows = await database.query<Row>(`${select} WHERE id IN (${marks})`, ids, deadline);
      const byId = new Map(rows.map((row) => [row.id, toRecord(row)]));
      return ids.map((id) => byId.get(id) ?? null);
    }),

    /** Makes records, for `complete` to fill within the same transaction. TakenError, HeldError. */
    async claim(transaction: Knex, claims: readonly Claim[]): Promise<void> {
      // In one order everywhere: two transactions with the same ids wait for each other one way only.
      const sorted = claims.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      try {
        await insertOrRenew(transaction, sorted);
      } catch (error) {
        if (means(error, 'duplicate')) throw new TakenError();
        const sortedIds = sorted.map(({ id }) => id);
        const ids = means(error, 'lockWait') ? await findHeld(transaction, sortedIds) : [];
        // None: it waited for the space between records, which a reader of many takes.
        throw ids.length > 0 ? new HeldError(ids) : error;
      }
    },

    /** Says of claimed records, by their ids, what was created. */
    async complete(transaction: Knex, results: readonly (readonly [id: string, resultId: Int64])[]): Promise<void> {
      // Literals of digits, as their type says: a number would round them. pet_id is what an earlier version reads.
      const result = `CASE id ${results.map(([, resultId]) => `WHEN ? THEN ${resultId}`).join(' ')} END`;
      const ids = results.map(([id]) => id);
      const set = `SET result_id = ${result}, pet_id = ${result} WHERE id IN (${ids.map(() => '?').join(', ')})`;
      await transaction.raw(`UPDATE ${TABLE}${byKey} ${set}`, [...ids, ...ids, ...ids]);
    },

    /** Takes away the expired ones, in small steps. */
    async sweep(): Promise<void> {
      for (;;) {
        const expired: { id: string }[] = await database.run((knex) =>
          knex(TABLE).whereRaw(isExpired).select('id').limit(SWEEP_BATCH),
        );
        if (expired.length === 0) return;
        const ids = expired.map(({ id }) => id);
        // By age once more: a record may have been renewed since.
        const sweep = (knex: Knex) => knex(TABLE).whereIn('id', ids).whereRaw(isExpired).delete();
        await database.run(sweep, { repeatable: true });
      }
    },
  };
}

/** Those of the ids whose record another transaction holds, there or not yet; none where the server cannot tell. */
async function findHeld(transaction: Knex, ids: readonly string[]): Promise<readonly string[]> {
  // Where there is no record, this takes its gap, for which nobody ever waits but who inserts into it,
  // https://dev.mysql.com/doc/refman/9.7/en/innodb-locking.html#innodb-gap-locks
  const take = transaction(TABLE).whereIn('id', ids).forUpdate().noWait().select('id');
  const isHeld = await take.then(
    () => false,
    (error: unknown) => means(error, 'lockWait'),
  );
  if (!isHeld) return [];
  if (ids.length === 1) return ids;
  const half = ids.length / 2;
  const first = await findHeld(transaction, ids.slice(0, half));
  return [...first, ...(await findHeld(transaction, ids.slice(half)))];
}

function toRecord({ inputHash, resultId, isExpired }: Row) {
  return { inputHash, resultId: toInt64(resultId), isExpired: Number(isExpired) === 1 };
}
