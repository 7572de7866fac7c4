import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Knex } from 'knex';
import { createBatcher } from '../../lib/batcher/batcher.ts';
import type { Deadline } from '../../lib/deadline/deadline.ts';
import { type Int64, type Integer64, toInt64 } from '../../lib/exact-json/exact-json.ts';
import { type Database, NOW_MS } from '../database/connect.ts';
import { means } from '../database/faults.ts';
import { DatabaseFault } from '../errors.ts';

/** How long a retry gets the first answer again, in ms. */
const REPLAY_MS = 24 * 60 * 60 * 1000;

/** Records that one statement of the clean-up deletes. */
const SWEEP_BATCH = 500;

const TABLE = 'idempotency_keys';

/** A create's part of its record. `id` and `inputHash` are SHA-256 in hexadecimal. */
export interface RecordKey {
  readonly id: string;
  readonly inputHash: string;
  /** Whether an expired record of this id exists, which is renewed. */
  readonly renews: boolean;
}

/** A record to be inserted or renewed: with the id of the row that was created. */
interface NewRecord extends RecordKey {
  readonly resultId: Int64;
}

/** Another process has inserted or renewed a record since it was looked up. */
export class RecordTakenError extends Error {}

/** Another transaction holds the lock of one of the records. It may not have committed the record yet. */
export class LockedError extends DatabaseFault {}

/** The stored results of creates with an Idempotency-Key. */
export function createRecords(database: Database) {
  const now = NOW_MS[database.engine];
  const isExpired = `created_at <= ${now} - ${REPLAY_MS}`;
  const select = `SELECT id, input_hash AS inputHash, result_id AS resultId, ${isExpired} AS isExpired FROM ${TABLE}`;

  const insertOrRenew = async (transaction: Knex, records: readonly NewRecord[]): Promise<void> => {
    const fresh = records.filter(({ renews }) => !renews);
    if (fresh.length > 0) {
      // The result is a literal, because a bound number would be rounded; an Int64 is only digits.
      const values = fresh.map(({ resultId }) => `(?, ?, ${resultId}, ${now})`).join(', ');
      const bindings = fresh.flatMap(({ id, inputHash }) => [id, inputHash]);
      await transaction.raw(`INSERT INTO ${TABLE} (id, input_hash, result_id, created_at) VALUES ${values}`, bindings);
    }
    for (const { id, inputHash, resultId } of records.filter(({ renews }) => renews)) {
      const expired = transaction(TABLE).where({ id }).whereRaw(isExpired);
      const [result, created] = [transaction.raw(resultId), transaction.raw(now)];
      const renewed = await expired.update({ input_hash: inputHash, result_id: result, created_at: created });
      if (renewed !== 1) throw new RecordTakenError();
    }
  };

  return {
    /** The record of an id, or null. Expired records are included: they may be renewed. */
    find: createBatcher(database, { inFlight: 2, maxSize: 32, keyOf: (id: string) => id }, async (ids, deadline) => {
      const marks = ids.map(() => '?').join(', ');
      const rows = await database.query<Row>(`${select} WHERE id IN (${marks})`, ids, deadline);
      const byId = new Map(rows.map((row) => [row.id, toRecord(row)]));
      return ids.map((id) => byId.get(id) ?? null);
    }),

    /** Inserts or renews records within the transaction of their creates. RecordTakenError, LockedError. */
    async add(transaction: Knex, records: readonly NewRecord[]): Promise<void> {
      // All transactions lock in the same order, so that they do not deadlock.
      const sorted = records.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      try {
        await insertOrRenew(transaction, sorted);
      } catch (error) {
        if (means(error, 'duplicate')) throw new RecordTakenError();
        // The lock may also be a gap lock of an unrelated transaction.
        if (means(error, 'lockWait') && (await areLocked(transaction, sorted))) throw new LockedError('unavailable');
        throw error;
      }
    },

    /** Whether another transaction holds the lock of one of these records; false when the server cannot tell. */
    areLocked: (keys: readonly RecordKey[], deadline: Deadline): Promise<boolean> =>
      database.run((knex) => areLocked(knex, keys), { deadline }),

    /** Deletes the expired records, in small batches. */
    async sweep(): Promise<void> {
      for (;;) {
        const expired: { id: string }[] = await database.run((knex) =>
          knex(TABLE).whereRaw(isExpired).select('id').limit(SWEEP_BATCH),
        );
        if (expired.length === 0) return;
        const ids = expired.map(({ id }) => id);
        // The age is checked again: a record may have been renewed since.
        const sweep = (knex: Knex) => knex(TABLE).whereIn('id', ids).whereRaw(isExpired).delete();
        await database.run(sweep, { idempotent: true });
        await nextTurn(); // SQLite never waits for I/O here: without a pause, no request would be served
      }
    },
  };
}

function areLocked(transaction: Knex, keys: readonly RecordKey[]): Promise<boolean> {
  const ids = keys.map(({ id }) => id);
  // Without a record, this locks a gap, which delays inserts only and no other lock on the gap,
  // https://dev.mysql.com/doc/refman/9.7/en/innodb-locking.html#innodb-gap-locks
  const take = transaction(TABLE).whereIn('id', ids).forUpdate().noWait().select('id');
  return take.then(
    () => false,
    (error: unknown) => means(error, 'lockWait'),
  );
}

type Row = Readonly<Record<'id' | 'inputHash', string> & Record<'resultId' | 'isExpired', Integer64>>;

function toRecord({ inputHash, resultId, isExpired }: Row) {
  return { inputHash, resultId: toInt64(resultId), isExpired: Number(isExpired) === 1 };
}
