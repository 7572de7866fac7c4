import type { Knex } from 'knex';
import { type Ask, shareReads, travelRules } from '../database/batching/together.ts';
import type { Database } from '../database/connect.ts';
import { isLockWait } from '../database/faults.ts';
import { type Int64, type Integer64, toInt64 } from '../int64.ts';

/** How long a retry gets the first answer again, in ms. */
const REPLAY_MS = 24 * 60 * 60 * 1000;

/** Records that one statement of the clean-up takes away. */
const SWEEP_BATCH = 500;

const TABLE = 'idempotency_keys';

/** A record to be kept: `id` and `inputHash` are SHA-256 in hexadecimal. */
export interface NewRecord {
  readonly id: string;
  readonly inputHash: string;
}

interface WrittenRecord extends NewRecord {
  readonly resultId: Int64;
}

/** A record of an earlier request. */
export interface FoundRecord {
  readonly inputHash: string;
  readonly resultId: Int64;
  /** Whether its time is over: then the key is new again. */
  readonly isExpired: boolean;
}

/** The records of what was created under an Idempotency-Key. */
export interface IdempotencyRecords {
  find: Ask<string, FoundRecord | null>;
  /** A duplicate's error (see `isDuplicate`) when one of them is there. */
  insert(transaction: Knex, records: readonly WrittenRecord[]): Promise<void>;
  /** Whether there was an expired record that this one has replaced. */
  renew(transaction: Knex, record: WrittenRecord): Promise<boolean>;
  /** Whether another transaction holds the record of this id, there or not yet; false where the server cannot tell. */
  isHeld(transaction: Knex, id: string): Promise<boolean>;
  /** Takes away the expired ones, in small steps. */
  sweep(): Promise<void>;
}

interface Row {
  readonly id: string;
  readonly inputHash: string;
  readonly resultId: Integer64;
  readonly createdAt: Integer64;
}

/** The records of this database. */
export function createRecords(database: Database): IdempotencyRecords {
  // A record of an earlier version, which may run beside this one, has a pet_id only.
  const select = `SELECT id, input_hash AS inputHash, COALESCE(result_id, pet_id) AS resultId, created_at AS createdAt FROM ${TABLE}`;
  return {
    find: shareReads(
      (id) => id,
      async (ids, deadline) => {
        const marks = ids.map(() => '?').join(', ');
        const rows = await database.query<Row>(`${select} WHERE id IN (${marks})`, ids, deadline);
        const byId = new Map(rows.map((row) => [row.id, row]));
        return ids.map((id) => toRecord(byId.get(id)));
      },
      travelRules(database, { sideBySide: 2, batch: 32 }),
    ),

    async insert(transaction, records) {
      if (records.length === 0) return;
      await transaction(TABLE).insert(records.map((record) => ({ id: record.id, ...columnsOf(transaction, record) })));
    },

    async renew(transaction, record) {
      const expired = transaction(TABLE).where({ id: record.id }).where('created_at', '<=', expiryMoment());
      return (await expired.update(columnsOf(transaction, record))) === 1;
    },

    isHeld(transaction, id) {
      // Where there is no record, this takes its gap, for which nobody ever waits but who inserts into it,
      // https://dev.mysql.com/doc/refman/9.7/en/innodb-locking.html#innodb-gap-locks
      const take = transaction(TABLE).where({ id }).forUpdate().noWait().first('id');
      return take.then(() => false, isLockWait);
    },

    async sweep() {
      for (;;) {
        const moment = expiryMoment();
        const expired: { id: string }[] = await database.run((knex) =>
          knex(TABLE).where('created_at', '<=', moment).select('id').limit(SWEEP_BATCH),
        );
        if (expired.length === 0) return;
        const ids = expired.map(({ id }) => id);
        // By age once more: a record may have been renewed since.
        await database.run((knex) => knex(TABLE).whereIn('id', ids).where('created_at', '<=', moment).delete(), {
          repeatable: true,
        });
      }
    },
  };
}

/** Records of this moment and older have expired. */
function expiryMoment(): number {
  return Date.now() - REPLAY_MS;
}

function columnsOf(knex: Knex, { inputHash, resultId }: WrittenRecord) {
  // A literal of digits, as its type says: a number would round it. pet_id is what an earlier version reads.
  const id = knex.raw(resultId);
  return { input_hash: inputHash, result_id: id, pet_id: id, created_at: Date.now() };
}

function toRecord(row: Row | undefined): FoundRecord | null {
  if (row === undefined) return null;
  return {
    inputHash: row.inputHash,
    resultId: toInt64(row.resultId),
    isExpired: Number(row.createdAt) <= expiryMoment(),
  };
}
