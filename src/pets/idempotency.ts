import { hash } from 'node:crypto';
import type { Knex } from 'knex';
import type { Database } from '../database/connect.ts';
import { isDuplicate, isLockWait } from '../database/faults.ts';
import { ApiError } from '../errors.ts';
import type { Int64 } from '../int64.ts';
import type { NewPet } from './pet.ts';

/** How long a retry gets the first answer again, in ms. */
export const REPLAY_MS = 24 * 60 * 60 * 1000;

/** Records that one statement of the clean-up takes away. */
const SWEEP_BATCH = 500;

/** Who asks for something that must happen once, and under which name. */
export interface Once {
  readonly apiKeyId: string;
  /** The `Idempotency-Key`. */
  readonly idempotencyKey: string;
  /** Which of the request's additions it is, from 1: a GraphQL request may hold several. */
  readonly position: number;
}

/** The animal, and whether an earlier request has added it. */
interface AddedOnce {
  readonly id: Int64;
  readonly replayed: boolean;
}

interface IdempotencyRow {
  readonly input_hash: string;
  readonly pet_id: string | number;
}

/** Adds an animal once for each Idempotency-Key, whatever fails between the first request and its retries. */
export interface IdempotentWrites {
  /**
   * The id of the animal that `insert` adds, or that an earlier request with the same key and input has added.
   * ApiError `idempotency_conflict` while another is at work, `idempotency_mismatch` when the input differs.
   */
  addOnce(once: Once, input: NewPet, insert: (trx: Knex) => Promise<Int64>): Promise<AddedOnce>;
  /** Takes away the records that no retry can ask for any more, in small steps. */
  sweep(): Promise<void>;
}

/** Idempotent writes to this database; one for each process, for it knows what is at work here. */
export function createIdempotentWrites(database: Database): IdempotentWrites {
  const atWork = new Set<string>();
  return {
    async addOnce({ apiKeyId, idempotencyKey, position }, input, insert) {
      const id = sha256([apiKeyId, idempotencyKey, String(position)]);
      const inputHash = sha256([input.name, input.categoryId, input.status]);
      if (atWork.has(id)) throw conflict();
      atWork.add(id);
      try {
        const earlier = await findRecord(database, id, inputHash);
        return earlier === undefined ? await addRecorded(database, id, inputHash, insert) : replay(earlier);
      } finally {
        atWork.delete(id);
      }
    },
    sweep: () => sweepRecords(database),
  };
}

/** The animal of an earlier request; ApiError `idempotency_mismatch` when that had another input. */
async function findRecord(database: Database, id: string, inputHash: string): Promise<Int64 | undefined> {
  const row = await database.run((knex) =>
    knex('idempotency_keys')
      .where({ id })
      .where('created_at', '>', Date.now() - REPLAY_MS)
      .first<IdempotencyRow | undefined>('input_hash', 'pet_id'),
  );
  if (row !== undefined && row.input_hash !== inputHash) {
    throw new ApiError('idempotency_mismatch', 'This Idempotency-Key was used with another input before.');
  }
  return row && (String(row.pet_id) as Int64); // the database's own id
}

async function addRecorded(
  database: Database,
  id: string,
  inputHash: string,
  insert: (trx: Knex) => Promise<Int64>,
): Promise<AddedOnce> {
  try {
    return { id: await insertBoth(database, id, inputHash, insert), replayed: false };
  } catch (error) {
    if (!isDuplicate(error)) throw isLockWait(error) ? conflict() : error;
    // Another process was first, between our look and our insert: its animal is the answer.
    const winner = await findRecord(database, id, inputHash);
    if (winner === undefined) throw conflict();
    return replay(winner);
  }
}

/** Animal and record in one transaction: both are there, or neither; the record makes a second run harmless. */
function insertBoth(
  database: Database,
  id: string,
  inputHash: string,
  insert: (trx: Knex) => Promise<Int64>,
): Promise<Int64> {
  const insertUnder = async (trx: Knex): Promise<Int64> => {
    const now = Date.now();
    const petId = await insert(trx);
    await trx('idempotency_keys')
      .where({ id })
      .where('created_at', '<=', now - REPLAY_MS)
      .delete();
    await trx('idempotency_keys').insert({ id, input_hash: inputHash, pet_id: trx.raw(petId), created_at: now });
    return petId;
  };
  return database.run((knex) => knex.transaction(insertUnder), { repeatable: true });
}

async function sweepRecords(database: Database): Promise<void> {
  for (;;) {
    const expired: { id: string }[] = await database.run((knex) =>
      knex('idempotency_keys')
        .where('created_at', '<=', Date.now() - REPLAY_MS)
        .select('id')
        .limit(SWEEP_BATCH),
    );
    const ids = expired.map((row) => row.id);
    if (ids.length === 0) return;
    await database.run((knex) => knex('idempotency_keys').whereIn('id', ids).delete());
  }
}

function replay(id: Int64): AddedOnce {
  return { id, replayed: true };
}

function conflict(): ApiError {
  return new ApiError('idempotency_conflict', 'A request with this Idempotency-Key is still at work; try again.', {
    headers: { 'Retry-After': '1' },
  });
}

function sha256(parts: readonly (string | null)[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}
