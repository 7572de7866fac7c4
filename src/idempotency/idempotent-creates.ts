import { hash } from 'node:crypto';
import type { Knex } from 'knex';
import { createBatcher } from '../database/batching.ts';
import type { Database } from '../database/connect.ts';
import { isRefused } from '../database/faults.ts';
import type { Deadline } from '../deadline.ts';
import { ID_LOCK_MS } from '../deadlines.ts';
import { ApiError } from '../errors.ts';
import type { Int64 } from '../int64.ts';
import { type Claim, createRecords, RecordLockedError, RecordTakenError } from './idempotency-records.ts';

/** Identifies one create by its Idempotency-Key. */
export interface Once {
  /** The owner of the Idempotency-Key: an API key and those that replaced it by rotation have the same one. */
  readonly ownerId: string;
  readonly apiKeyId: string;
  readonly idempotencyKey: string;
  /** The number of the create within the request, from 1: a GraphQL request may have several. */
  readonly position: number;
}

interface CreateOperation<Input> {
  /** The name in the hash of the record's id; null for the oldest operation, whose records have none. */
  readonly operation: string | null;
  /** The whole input as a list that is equal for equal inputs, and only for them. */
  canonical(input: Input): readonly unknown[];
  /** Creates within a transaction; gives the ids in the order of the inputs. */
  addWithin(transaction: Knex.Transaction, inputs: readonly Input[]): Promise<Int64[]>;
  /** Gives the function that releases the lock, which is held from before `addWithin` until the end of the transaction. */
  acquireIdLock(): Promise<() => void>;
  /** The approximate size of an input in a statement, in bytes. */
  bytesOf(input: Input): number;
}

/** An input, with the records to be inserted for it. */
interface PendingCreate<Input> {
  readonly input: Input;
  readonly claims: readonly Claim[];
}

/**
 * Creates once for each Idempotency-Key; one for each operation and process. It gives the id of the created row, or of the row
 * that an earlier request with the same key and input created. ApiError `idempotency_conflict` while another request with the key
 * is in flight, `idempotency_mismatch` when the input differs.
 */
export function createIdempotentCreates<Input>(database: Database, creates: CreateOperation<Input>) {
  const { operation, canonical, bytesOf } = creates;
  const records = createRecords(database);
  const inFlight = new Set<string>();

  const createBatch = createBatcher<PendingCreate<Input>, Int64>(
    database,
    {
      inFlight: 2,
      // Each transaction holds a connection while it waits for the id lock; the holder of the lock must get one, too.
      inFlightMax: Math.max(1, database.connectionsMax - 1),
      maxSize: 32,
      slowMs: ID_LOCK_MS, // more transactions would wait for the id lock
      bytesOf: ({ input }) => bytesOf(input),
      isInputError: (error) => error instanceof RecordTakenError || isRefused(error),
    },
    (batch, deadline) => createAll(database, records, creates, batch, deadline),
  );

  const findOrCreate = async (ids: readonly string[], inputHash: string, input: Input, deadline: Deadline) => {
    for (let attempt = 1; attempt <= 2; attempt++) {
      const earlier = await Promise.all(ids.map((id) => records.find(id, deadline)));
      const found = earlier.find((record) => record?.isExpired === false);
      if (found) {
        if (found.inputHash === inputHash) return { id: found.resultId, replayed: true };
        throw new ApiError('idempotency_mismatch', 'This Idempotency-Key was used with another input before.');
      }
      const claims = ids.map((id, index) => ({ id, inputHash, renews: earlier[index] !== null }));
      try {
        return { id: await createBatch({ input, claims }, deadline), replayed: false };
      } catch (error) {
        if (error instanceof RecordLockedError && (await records.areLocked(claims, deadline))) break;
        // Once more: the look-up finds the other request's record, or the batch is without the create whose record is held.
        if (!(error instanceof RecordTakenError) && !(error instanceof RecordLockedError && attempt === 1)) throw error;
      }
    }
    throw conflict();
  };

  const name = operation === null ? [] : [operation];
  return async ({ ownerId, apiKeyId, idempotencyKey, position }: Once, input: Input, deadline: Deadline) => {
    // Also by the API key itself: an earlier version of the gateway, which may run beside this one, knows no owner.
    const ids = [...new Set([ownerId, apiKeyId])].map((keyId) =>
      sha256([keyId, idempotencyKey, String(position), ...name]),
    );
    const [id = ''] = ids; // there is at least one
    if (inFlight.has(id)) throw conflict();
    inFlight.add(id);
    try {
      return await findOrCreate(ids, sha256(canonical(input)), input, deadline);
    } finally {
      inFlight.delete(id);
    }
  };
}

/** Creates a batch by one transaction: records and rows are both there, or neither. The records make it safe to repeat. */
async function createAll<Input>(
  database: Database,
  records: ReturnType<typeof createRecords>,
  { addWithin, acquireIdLock }: CreateOperation<Input>,
  batch: readonly PendingCreate<Input>[],
  deadline: Deadline,
): Promise<Int64[]> {
  const claims = batch.flatMap((pending) => pending.claims);
  const inputs = batch.map(({ input }) => input);
  let releaseIdLock = () => {};
  const work = async (transaction: Knex.Transaction): Promise<Int64[]> => {
    releaseIdLock(); // of the attempt before
    await records.claim(transaction, claims);
    // After the claims, which may wait for other transactions: the id lock is held for a short time only.
    releaseIdLock = await acquireIdLock();
    const ids = await addWithin(transaction, inputs);
    const resultsOf = ({ claims }: PendingCreate<Input>, index: number) =>
      claims.map(({ id }) => [id, ids[index] as Int64] as const); // one for each
    await records.complete(transaction, batch.flatMap(resultsOf));
    return ids;
  };
  try {
    return await database.run((knex) => knex.transaction(work), { idempotent: true, deadline });
  } finally {
    releaseIdLock();
  }
}

function conflict(): ApiError {
  return new ApiError('idempotency_conflict', 'A request with this Idempotency-Key is still at work; try again.');
}

function sha256(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}
