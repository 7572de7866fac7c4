import { hash } from 'node:crypto';
import type { Knex } from 'knex';
import { createBatched } from '../database/batching.ts';
import type { Database } from '../database/connect.ts';
import { isRefused } from '../database/faults.ts';
import type { Deadline } from '../deadline.ts';
import { ApiError } from '../errors.ts';
import type { Int64 } from '../int64.ts';
import { type Claim, createRecords, HeldError, TakenError } from './idempotency-records.ts';

/** Something that must be created once, and under which name. */
export interface Once {
  /** Whose the names are: a key and those that replaced it by rotation have one owner. */
  readonly ownerId: string;
  readonly apiKeyId: string;
  /** The `Idempotency-Key`. */
  readonly idempotencyKey: string;
  /** Which of the request's creates it is, from 1: a GraphQL request may hold several. */
  readonly position: number;
}

/** An operation that creates something. */
interface Creating<Input> {
  /** Tells the operations apart; null for the first one that there was, whose records bear no name. */
  readonly operation: string | null;
  /** The whole input as a list that is equal for equal inputs, and only for them. */
  canonical(input: Input): readonly unknown[];
  /** Creates within a transaction; the ids in the order of the inputs. */
  create(transaction: Knex.Transaction, inputs: readonly Input[]): Promise<Int64[]>;
  /** Waits for the turn to create; what it gives is called when the transaction is over. */
  takeTurn(): Promise<() => void>;
  /** About what an input weighs in a statement, in bytes. */
  bytesOf(input: Input): number;
}

/** An input, with the records to be made for it. */
interface Order<Input> {
  readonly input: Input;
  readonly claims: readonly Claim[];
}

/**
 * Creates once for each Idempotency-Key, whatever fails between the first request and its retries; one for each operation and
 * process, for it knows what is at work here. It gives the id of what is created, or of what an earlier request with the same
 * key and input has created. ApiError `idempotency_conflict` while another is at work, `idempotency_mismatch` when the input
 * differs.
 */
export function createIdempotentCreates<Input>(database: Database, creating: Creating<Input>) {
  const { operation, canonical, bytesOf } = creating;
  const records = createRecords(database);
  const atWork = new Set<string>();

  const createBatch = createBatched<Order<Input>, Int64 | undefined>(
    database,
    {
      inFlight: 2,
      // They wait for their turn with a connection each: whoever has the turn must get one, too.
      inFlightMax: Math.max(1, database.connectionsMax - 1),
      size: 32,
      bytesOf: ({ input }) => bytesOf(input),
      isAboutOne: (error) => error instanceof TakenError || isRefused(error),
    },
    createTransaction(database, records, creating),
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
        const id = await createBatch({ input, claims }, deadline);
        if (id === undefined) throw conflict();
        return { id, replayed: false };
      } catch (error) {
        if (!(error instanceof TakenError)) throw error; // else the winner's is the answer: look again
      }
    }
    throw conflict();
  };

  return async ({ ownerId, apiKeyId, idempotencyKey, position }: Once, input: Input, deadline: Deadline) => {
    const name = [idempotencyKey, String(position), ...(operation === null ? [] : [operation])];
    // The key's own as well as its owner's: an earlier version, which may run beside this one, knows no owner.
    const ids = [...new Set([ownerId, apiKeyId])].map((keyId) => sha256([keyId, ...name]));
    const [id = ''] = ids; // there is one at least
    if (atWork.has(id)) throw conflict();
    atWork.add(id);
    try {
      return await findOrCreate(ids, sha256(canonical(input)), input, deadline);
    } finally {
      atWork.delete(id);
    }
  };
}

/** Gives the creates of several orders by one transaction: their ids, undefined for those whose records another one holds. */
function createTransaction<Input>(
  database: Database,
  records: ReturnType<typeof createRecords>,
  { create, takeTurn }: Creating<Input>,
) {
  /** Records and things in one transaction: both are there, or neither; the records make a second run safe. */
  const createAll = async (orders: readonly Order<Input>[], deadline: Deadline): Promise<Int64[]> => {
    let endTurn = () => {};
    const work = async (transaction: Knex.Transaction): Promise<Int64[]> => {
      endTurn(); // of an attempt before this one
      await records.claim(
        transaction,
        orders.flatMap(({ claims }) => claims),
      );
      // Nothing waits for a lock from here on, while the ids are taken and nobody sees them.
      endTurn = await takeTurn();
      const ids = await create(
        transaction,
        orders.map(({ input }) => input),
      );
      const resultsOf = ({ claims }: Order<Input>, index: number) =>
        claims.map(({ id }) => [id, ids[index] as Int64] as const); // one for each
      await records.complete(transaction, orders.flatMap(resultsOf));
      return ids;
    };
    try {
      return await database.run((knex) => knex.transaction(work), { repeatable: true, deadline });
    } finally {
      endTurn();
    }
  };

  return async (orders: readonly Order<Input>[], deadline: Deadline): Promise<readonly (Int64 | undefined)[]> => {
    let free = orders;
    for (;;) {
      try {
        const ids = await createAll(free, deadline);
        return orders.map((order) => ids[free.indexOf(order)]);
      } catch (error) {
        if (!(error instanceof HeldError)) throw error;
        free = free.filter(({ claims }) => !claims.some(({ id }) => error.ids.includes(id)));
        if (free.length === 0) return [];
      }
    }
  };
}

function conflict(): ApiError {
  return new ApiError('idempotency_conflict', 'A request with this Idempotency-Key is still at work; try again.');
}

function sha256(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}
