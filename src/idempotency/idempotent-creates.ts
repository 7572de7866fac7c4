import { hash } from 'node:crypto';
import type { Knex } from 'knex';
import { type AskTogether, sendTogether, travelRules } from '../database/batching/together.ts';
import type { Database } from '../database/connect.ts';
import { isRefused } from '../database/faults.ts';
import type { Deadline } from '../deadline.ts';
import { ApiError } from '../errors.ts';
import type { Int64 } from '../int64.ts';
import {
  type Claim,
  createRecords,
  type FoundRecord,
  HeldError,
  type IdempotencyRecords,
  TakenError,
} from './idempotency-records.ts';

/** Who asks for something that must happen once, and under which name. */
export interface Once {
  /** Whose the names are: a key and those that replaced it by rotation have one owner. */
  readonly ownerId: string;
  readonly apiKeyId: string;
  /** The `Idempotency-Key`. */
  readonly idempotencyKey: string;
  /** Which of the request's creates it is, from 1: a GraphQL request may hold several. */
  readonly position: number;
}

/** The id of what was created, and whether an earlier request has done it. */
interface CreatedOnce {
  readonly id: Int64;
  readonly replayed: boolean;
}

/** An operation that creates something, as this room must know it. */
export interface Creating<Input> {
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

/** One that is to be created, with its records. */
interface Order<Input> {
  readonly input: Input;
  readonly claims: readonly Claim[];
}

/** Gives the creates of several orders by one transaction: their ids, undefined for those whose records another one holds. */
function createTransactions<Input>(
  database: Database,
  records: IdempotencyRecords,
  { create, takeTurn }: Creating<Input>,
): AskTogether<Order<Input>, Int64 | undefined> {
  /** Records and things in one transaction: both are there, or neither; the records make a second run harmless. */
  const createAll = async (orders: readonly Order<Input>[], deadline: Deadline): Promise<Int64[]> => {
    let endTurn = () => {};
    const work = async (transaction: Knex.Transaction): Promise<Int64[]> => {
      endTurn(); // of an attempt before this one
      const claims = orders.flatMap((order) => order.claims);
      await records.claim(transaction, claims);
      // Nothing waits for a lock from here on, while the ids are taken and nobody sees them.
      endTurn = await takeTurn();
      const inputs = orders.map(({ input }) => input);
      const ids = await create(transaction, inputs);
      const resultsOf = ({ claims }: Order<Input>, index: number) =>
        claims.map(({ id }) => [id, ids[index] as Int64] as const); // one for each
      await records.complete(transaction, new Map(orders.flatMap(resultsOf)));
      return ids;
    };
    try {
      return await database.run((knex) => knex.transaction(work), { repeatable: true, deadline });
    } finally {
      endTurn();
    }
  };

  const createFree: AskTogether<Order<Input>, Int64 | undefined> = async (orders, deadline) => {
    try {
      return await createAll(orders, deadline);
    } catch (error) {
      if (!(error instanceof HeldError)) throw error;
      const isFree = ({ claims }: Order<Input>) => !claims.some(({ id }) => error.ids.has(id));
      const free = orders.filter(isFree);
      const ids = free.length > 0 ? await createFree(free, deadline) : [];
      return orders.map((order) => ids[free.indexOf(order)]);
    }
  };
  return createFree;
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

  const createTogether = sendTogether(createTransactions(database, records, creating), {
    ...travelRules(database, { sideBySide: 2, batch: 32, writes: true }),
    // They wait for their turn with a connection each: whoever has the turn must get one, too.
    underWay: Math.max(1, database.connectionsMax - 1),
    bytesOf: ({ input }) => bytesOf(input),
    isAboutOne: (error) => error instanceof TakenError || isRefused(error),
  });

  const lookOrCreate = async (ids: readonly string[], inputHash: string, input: Input, deadline: Deadline) => {
    for (let attempt = 1; attempt <= 2; attempt++) {
      const earlier = await Promise.all(ids.map((id) => records.find(id, deadline)));
      const found = earlier.find((record) => record?.isExpired === false);
      if (found) return replay(found, inputHash);
      const claims = ids.map((id, index) => ({ id, inputHash, renews: earlier[index] !== null }));
      try {
        const id = await createTogether({ input, claims }, deadline);
        if (id !== undefined) return { id, replayed: false };
        break;
      } catch (error) {
        if (!(error instanceof TakenError)) throw error; // else the winner's is the answer: look again
      }
    }
    throw conflict();
  };

  return async (once: Once, input: Input, deadline: Deadline): Promise<CreatedOnce> => {
    const { ownerId, apiKeyId, idempotencyKey, position } = once;
    const name = [idempotencyKey, String(position), ...(operation === null ? [] : [operation])];
    // The key's own as well as its owner's: an earlier version, which may run beside this one, knows no owner.
    const ids = [...new Set([ownerId, apiKeyId])].map((keyId) => sha256([keyId, ...name]));
    const [id = ''] = ids; // there is one at least
    if (atWork.has(id)) throw conflict();
    atWork.add(id);
    try {
      return await lookOrCreate(ids, sha256(canonical(input)), input, deadline);
    } finally {
      atWork.delete(id);
    }
  };
}

function replay({ inputHash: first, resultId }: FoundRecord, inputHash: string): CreatedOnce {
  if (first === inputHash) return { id: resultId, replayed: true };
  throw new ApiError('idempotency_mismatch', 'This Idempotency-Key was used with another input before.');
}

function conflict(): ApiError {
  return new ApiError('idempotency_conflict', 'A request with this Idempotency-Key is still at work; try again.');
}

function sha256(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}
