import { type Deadline, remainingMs, watchDeadlines } from '../deadline.ts';
import { DatabaseFault } from '../errors.ts';
import type { Database } from './connect.ts';

/**
 * Up to this round trip, in ms, fewer and larger statements save work of the process and of the server. Beyond it, waiting for
 * others would cost more time than that.
 */
export const NEAR_MS = 1.5;
/** A statement that has no answer after this time, in ms, holds no other up: it may wait for a lock, or its connection be dead. */
const SLOW_MS = 10;
/** A larger statement holds one input, in bytes: nobody waits for the upload of what another sent. */
const BATCH_BYTES = 256 * 1024;

/** How inputs of one kind share statements. */
interface BatchRules<Input> {
  /** Statements in flight at once while the database is near; else as many as there are connections. */
  readonly inFlight: number;
  /** Statements in flight at once wherever the database is, by default as many as it has connections. */
  readonly inFlightMax?: number;
  /** Inputs of one statement at most. */
  readonly size: number;
  /** Whether a statement of any number of inputs has one of few texts: else it gets a power of two of them. */
  readonly isPadded?: boolean;
  /** Inputs of the same key are one, as long as they are queued. By default each is one of its own. */
  keyOf?(input: Input): string;
  /** Inputs of different groups never share a statement: its text is of one kind. */
  groupOf?(input: Input): string;
  /** What an input adds to its statement, in bytes, where that may be much. */
  bytesOf?(input: Input): number;
  /**
   * Whether a statement was refused, and not done, for the sake of one of its inputs: then each goes alone. Never for an error
   * that leaves open whether it was done.
   */
  isAboutOne?(error: unknown): boolean;
}

/** Answers several inputs by one statement, in their order. */
type RunBatch<Input, Answer> = (inputs: readonly Input[], deadline: Deadline) => Promise<readonly Answer[]>;

/** Rejects with DatabaseFault `unavailable` at the deadline, whatever the database does. */
export type Batched<Input, Answer> = (input: Input, deadline: Deadline) => Promise<Answer>;

interface Waiter<Answer> extends Pick<PromiseWithResolvers<Answer>, 'resolve' | 'reject'> {
  readonly deadline: Deadline;
}

/** An input and all who wait for its answer. */
interface Entry<Input, Answer> {
  readonly input: Input;
  readonly bytes: number;
  /** Its place in the queue. */
  readonly key: unknown;
  readonly group: unknown;
  waiters: Waiter<Answer>[];
}

/**
 * Runs several inputs by one statement, until the latest of their deadlines. Inputs are queued until the end of the turn of
 * the event loop, and longer while as many statements are in flight as the rules allow. An input joins an equal one only in
 * the queue, so every answer is of a statement that began after its input came. An error reaches those whose statement it is.
 */
export function createBatched<Input, Answer>(
  database: Pick<Database, 'connectionsMax' | 'roundTripMs'>,
  rules: BatchRules<Input>,
  runBatch: RunBatch<Input, Answer>,
): Batched<Input, Answer> {
  const { inFlightMax = database.connectionsMax } = rules;
  let queue = new Map<unknown, Entry<Input, Answer>>();
  const inFlight: { readonly entries: readonly Entry<Input, Answer>[]; sentAt: number }[] = [];

  const enqueue = (entry: Entry<Input, Answer>): void => {
    queue.set(entry.key, entry);
    sendAtTurnEnd();
  };
  const sendReady = (): void => {
    while (queue.size > 0 && hasRoom()) void send(nextBatch(queue, rules)); // never rejects
    // A new Map each time: V8 links the tables of a growing one (OrderedHashTable), and an old table would keep all later
    // entries, with their requests, from the collector of the young.
    queue = new Map(queue);
    if (queue.size > 0) sendWhenSlow();
  };
  const sendAtTurnEnd = onceLater(setImmediate, sendReady);
  const sendWhenSlow = onceLater((work) => setTimeout(work, SLOW_MS), sendReady);
  const hasRoom = (): boolean => {
    if (inFlight.length >= inFlightMax) return false;
    if (database.roundTripMs() > NEAR_MS) return true;
    return inFlight.filter(({ sentAt }) => performance.now() < sentAt + SLOW_MS).length < rules.inFlight;
  };

  const send = async (entries: readonly Entry<Input, Answer>[]): Promise<void> => {
    for (const { key } of entries) queue.delete(key);
    const statement = { entries, sentAt: performance.now() };
    inFlight.push(statement);
    try {
      await answer(entries, runBatch);
    } catch (error) {
      const isShared = entries.length > 1 && rules.isAboutOne?.(error);
      for (const entry of entries) {
        if (isShared && entry.waiters.length > 0)
          enqueue({ ...entry, key: entry, group: entry }); // alone
        else for (const { reject } of entry.waiters) reject(error);
      }
    }
    inFlight.splice(inFlight.indexOf(statement), 1);
    sendReady();
  };

  /** A statement goes on for those who can wait longer. */
  const watch = watchDeadlines(() => {
    for (const { entries } of inFlight) entries.forEach(rejectLate);
    for (const [key, entry] of queue) {
      rejectLate(entry);
      if (entry.waiters.length === 0) queue.delete(key);
    }
    return inFlight.length + queue.size > 0;
  });

  return (input, deadline) => {
    watch();
    const { promise, ...settle } = Promise.withResolvers<Answer>();
    const key = rules.keyOf?.(input) ?? promise; // one of its own
    const waiter = { ...settle, deadline };
    const equal = queue.get(key);
    if (equal) equal.waiters.push(waiter);
    else enqueue({ input, bytes: rules.bytesOf?.(input) ?? 0, key, group: rules.groupOf?.(input), waiters: [waiter] });
    return promise;
  };
}

/** Gives a function that has `work` begun later by `schedule`: once, however often it is called until then. */
function onceLater(schedule: (work: () => void) => unknown, work: () => void): () => void {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    schedule(() => {
      isScheduled = false;
      work();
    });
  };
}

/** The first entry of the queue, and those of its group that go with it. */
function nextBatch<Input, Answer>(
  queue: ReadonlyMap<unknown, Entry<Input, Answer>>,
  { size, isPadded }: BatchRules<Input>,
) {
  const batch: Entry<Input, Answer>[] = [];
  let bytes = 0;
  for (const entry of queue.values()) {
    if (batch[0] && entry.group !== batch[0].group) continue;
    bytes += entry.bytes;
    if (batch.length === size || (batch.length > 0 && bytes > BATCH_BYTES)) break;
    batch.push(entry);
  }
  // Few different texts, so that each stays prepared.
  return isPadded ? batch : batch.slice(0, 2 ** Math.floor(Math.log2(batch.length)));
}

/** Gives each waiter the answer to its input, all by one statement; rejects when that fails. */
async function answer<Input, Answer>(
  entries: readonly Entry<Input, Answer>[],
  runBatch: RunBatch<Input, Answer>,
): Promise<void> {
  const deadlines = entries.flatMap(({ waiters }) => waiters.map(({ deadline }) => deadline));
  const inputs = entries.map(({ input }) => input);
  const answers = await runBatch(inputs, Math.max(...deadlines));
  for (const [index, { waiters }] of entries.entries()) {
    for (const { resolve } of waiters) resolve(answers[index] as Answer); // one for each input
  }
}

/** Tells the waiters whose deadline is over. */
function rejectLate<Answer>(entry: Entry<unknown, Answer>): void {
  const late = entry.waiters.filter(({ deadline }) => remainingMs(deadline) === 0);
  if (late.length === 0) return;
  entry.waiters = entry.waiters.filter((waiter) => !late.includes(waiter));
  for (const { reject } of late) {
    reject(new DatabaseFault('unavailable', new Error('the database did not answer in time')));
  }
}
