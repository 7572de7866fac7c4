import { hash } from 'node:crypto';
import type { Knex } from 'knex';
import { sendTogether, travelRules } from '../database/batching/together.ts';
import type { Database } from '../database/connect.ts';
import { isDuplicate, isLockWait, isRefused } from '../database/faults.ts';
import type { Deadline } from '../deadline.ts';
import { ApiError } from '../errors.ts';
import type { Int64 } from '../int64.ts';
import { createRecords, type FoundRecord, type NewRecord } from './idempotency-records.ts';

/** Who asks for something that must happen once, and under which name. */
export interface Once {
  readonly apiKeyId: string;
  /** The `Idempotency-Key`. */
  readonly idempotencyKey: string;
  /** Which of the request's creates it is, from 1: a GraphQL request may hold several. */
  readonly position: number;
}

/** The id of what was created, and whether an earlier request has done it. */
export interface CreatedOnce {
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
  /** About what an input weighs in a statement, in bytes. */
  bytesOf(input: Input): number;
}

/** Creates once for each Idempotency-Key, whatever fails between the first request and its retries. */
export interface IdempotentCreates<Input> {
  /**
   * The id of what is created, or of what an earlier request with the same key and input has created.
   * ApiError `idempotency_conflict` while another is at work, `idempotency_mismatch` when the input differs.
   */
  createOnce(once: Once, input: Input, deadline: Deadline): Promise<CreatedOnce>;
}

/** One that is to be created, with its record; `renews` when a record of its key has expired. */
interface Order<Input> extends NewRecord {
  readonly input: Input;
  readonly renews: boolean;
}

/** Another process was first, between our look and our insert. */
class TakenError extends Error {}

/** Idempotent creates of one operation; one for each process, for it knows what is at work here. */
export function createIdempotentCreates<Input>(
  database: Database,
  { operation, canonical, create, bytesOf }: Creating<Input>,
): IdempotentCreates<Input> {
  const records = createRecords(database);
  const atWork = new Set<string>();

  const writeRecords = async (transaction: Knex, orders: readonly (Order<Input> & { resultId: Int64 })[]) => {
    // In one order everywhere: two transactions with the same keys wait for each other one way only.
    const sorted = orders.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    await records.insert(
      transaction,
      sorted.filter(({ renews }) => !renews),
    );
    for (const order of sorted.filter(({ renews }) => renews)) {
      if (!(await records.renew(transaction, order))) throw new TakenError();
    }
  };

  /** Things and records in one transaction: both are there, or neither; the records make a second run harmless. */
  const createBoth = (orders: readonly Order<Input>[], deadline: Deadline): Promise<Int64[]> => {
    const work = async (transaction: Knex.Transaction): Promise<Int64[]> => {
      const inputs = orders.map(({ input }) => input);
      const ids = await create(transaction, inputs);
      const written = orders.map((order, index) => ({ ...order, resultId: ids[index] as Int64 })); // one for each
      try {
        await writeRecords(transaction, written);
      } catch (error) {
        const [order, another] = orders;
        const isOne = order !== undefined && another === undefined;
        // It may have waited for the space between records, too, which a reader of many takes.
        throw isOne && isLockWait(error) && (await records.isHeld(transaction, order.id)) ? conflict() : error;
      }
      return ids;
    };
    return database.run((knex) => knex.transaction(work), { repeatable: true, deadline });
  };

  const createTogether = sendTogether(createBoth, {
    ...travelRules(database, { sideBySide: 2, batch: 32, writes: true }),
    bytesOf: ({ input }) => bytesOf(input),
    isAboutOne: (error) => isTaken(error) || isRefused(error),
  });

  const lookOrCreate = async (id: string, inputHash: string, input: Input, deadline: Deadline) => {
    for (let attempt = 1; attempt <= 2; attempt++) {
      const earlier = await records.find(id, deadline);
      if (earlier !== null && !earlier.isExpired) return replay(earlier, inputHash);
      try {
        const renews = earlier !== null;
        return { id: await createTogether({ id, inputHash, input, renews }, deadline), replayed: false };
      } catch (error) {
        if (!isTaken(error)) throw error; // else the winner's is the answer: look again
      }
    }
    throw conflict();
  };

  return {
    async createOnce({ apiKeyId, idempotencyKey, position }, input, deadline) {
      const id = sha256([apiKeyId, idempotencyKey, String(position), ...(operation === null ? [] : [operation])]);
      if (atWork.has(id)) throw conflict();
      atWork.add(id);
      try {
        return await lookOrCreate(id, sha256(canonical(input)), input, deadline);
      } finally {
        atWork.delete(id);
      }
    },
  };
}

function replay({ inputHash: first, resultId }: FoundRecord, inputHash: string): CreatedOnce {
  if (first === inputHash) return { id: resultId, replayed: true };
  throw new ApiError('idempotency_mismatch', 'This Idempotency-Key was used with another input before.');
}

function isTaken(error: unknown): boolean {
  return error instanceof TakenError || isDuplicate(error);
}

function conflict(): ApiError {
  return new ApiError('idempotency_conflict', 'A request with this Idempotency-Key is still at work; try again.');
}

function sha256(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}
