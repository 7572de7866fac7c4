import { hash } from 'node:crypto';
import type { Knex } from 'knex';
import { createBatcher } from '../../lib/batcher/batcher.ts';
import { type Deadline, remainingMs } from '../../lib/deadline/deadline.ts';
import type { Int64 } from '../../lib/exact-json/exact-json.ts';
import { type Database, requireBegun } from '../database/connect.ts';
import { isRefused } from '../database/faults.ts';
import { ANSWER_MS, ID_LOCK_MS, RECORD_WAIT_MS } from '../deadlines.ts';
import { ApiError } from '../errors.ts';
import { createRecords, LockedError, type RecordKey, RecordTakenError } from './idempotency-records.ts';

/** An Idempotency-Key and its scope. Together they identify one create. */
export interface ScopedIdempotencyKey {
  /** The first API key of a chain of rotations. All keys of the chain share their Idempotency-Keys. */
  readonly ownerId: string;
  readonly idempotencyKey: string;
  /** The position of the create within the request, from 1. A GraphQL request may have several creates. */
  readonly position: number;
}

interface CreateOperation<Input> {
  /** The name that is part of the record's id. */
  readonly operation: string;
  /** The whole input as a list that is equal for equal inputs only. */
  canonical(input: Input): readonly unknown[];
  /** Creates within a transaction; gives the ids in the order of the inputs. */
  addWithin(transaction: Knex.Transaction, inputs: readonly Input[]): Promise<Int64[]>;
  /** Acquires the id lock and gives its release. It is held from before `addWithin` until the transaction has ended, or waits for a record. */
  acquireIdLock(): Promise<() => void>;
  /** The approximate size of an input in a statement, in bytes. */
  bytesOf(input: Input): number;
}

/** An input and the key of its record. */
interface PendingCreate<Input> {
  readonly input: Input;
  readonly recordKey: RecordKey;
}

/**
 * Gives a function that creates a row once for each Idempotency-Key: it gives the id of the new row, or of the row that an earlier
 * request with the same key and input created. ApiError `idempotency_conflict` while another request with the key is in flight,
 * `idempotency_mismatch` when the input differs. A process needs one for each operation.
 */
export function createIdempotentCreates<Input>(database: Database, creates: CreateOperation<Input>) {
  const { operation, canonical, bytesOf } = creates;
  const records = createRecords(database);
  const inFlight = new Set<string>();

  const createBatch = createBatcher<PendingCreate<Input>, Int64>(
    database,
    {
      inFlight: 2,
      // A transaction waits for the id lock on a connection. One connection must remain for the holder of the lock.
      inFlightMax: Math.max(1, database.connectionsMax - 1),
      maxSize: 32,
      slowMs: ID_LOCK_MS, // more transactions would wait for the id lock
      spreadMs: ANSWER_MS, // what is done by then before the latest deadline is done before that of each create
      bytesOf: ({ input }) => bytesOf(input),
      isInputError: (error) => error instanceof RecordTakenError || isRefused(error),
    },
    (batch, deadline) => createAll(database, records, creates, batch, deadline),
  );

  return async (
    { ownerId, idempotencyKey, position }: ScopedIdempotencyKey,
    input: Input,
    deadline: Deadline,
  ): Promise<{ id: Int64; replayed: boolean }> => {
    const id = sha256([operation, ownerId, idempotencyKey, position]);
    const inputHash = sha256(canonical(input));
    for (let attempt = 1; attempt <= 2; attempt++) {
      const record = await records.find(id, deadline);
      if (record?.isExpired === false) {
        if (record.inputHash === inputHash) return { id: record.resultId, replayed: true };
        throw new ApiError('idempotency_mismatch', 'This Idempotency-Key was used with another input before.');
      }
      // After the look-up: a record answers any number of retries at once.
      if (inFlight.has(id)) break;
      inFlight.add(id);
      const recordKey = { id, inputHash, renews: record !== null };
      try {
        return { id: await createBatch({ input, recordKey }, deadline), replayed: false };
      } catch (error) {
        if (error instanceof LockedError && (await records.areLocked([recordKey], deadline))) break;
        // Try once more. The look-up may find the other request's record; the next batch may lack the create that was locked.
        if (!(error instanceof RecordTakenError) && !(error instanceof LockedError && attempt === 1)) throw error;
      } finally {
        inFlight.delete(id);
      }
    }
    throw new ApiError('idempotency_conflict', 'A request with this Idempotency-Key is still at work; try again.');
  };
}

/** Creates a batch by one transaction, so that records and rows are both stored, or neither. The records make it idempotent. */
async function createAll<Input>(
  database: Database,
  records: ReturnType<typeof createRecords>,
  { addWithin, acquireIdLock }: CreateOperation<Input>,
  batch: readonly PendingCreate<Input>[],
  deadline: Deadline,
): Promise<Int64[]> {
  const inputs = batch.map(({ input }) => input);
  let releaseIdLock = () => {};
  const work = async (transaction: Knex.Transaction): Promise<Int64[]> => {
    releaseIdLock(); // of the previous attempt
    requireBegun(transaction); // else nobody would release the lock that is acquired next
    releaseIdLock = await acquireIdLock();
    // The waits are over, that for SQLite's lock too, which no deadline ends. No 503 leaves earlier than ANSWER_MS before the deadline,
    // so with as much left before that, the transaction ends first.
    if (remainingMs(deadline) < 2 * ANSWER_MS) throw database.lateError();
    const ids = await addWithin(transaction, inputs);
    const added = batch.map(({ recordKey }, index) => ({ ...recordKey, resultId: ids[index] as Int64 })); // one for each
    // Others do not wait with it for another gateway's lock. Its ids may then be seen after greater ones, as beyond ID_LOCK_MS.
    const waiting = setTimeout(() => releaseIdLock(), RECORD_WAIT_MS);
    await records.add(transaction, added).finally(() => clearTimeout(waiting));
    return ids;
  };
  try {
    return await database.run((knex) => knex.transaction(work), { idempotent: true, deadline });
  } finally {
    releaseIdLock();
  }
}

function sha256(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}
