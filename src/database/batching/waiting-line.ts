import { type Deadline, remainingMs } from '../../deadline.ts';
import { DatabaseFault } from '../../errors.ts';

/** A statement larger than this holds one question, in bytes: nobody waits for the upload of what another sent. */
const BATCH_BYTES = 256 * 1024;

/** How questions of one kind travel. */
export interface TravelRules<Question> {
  /** Statements under way at once: no more than there are connections. */
  readonly underWay: number;
  /** So many go beside each other when the database is near, or, if full, under congestion: fewer of them save work. */
  readonly sideBySide: number;
  /** Different questions in one statement; a power of two. */
  readonly batch: number;
  /** Whether `fillUp` makes statements of few different texts: then all questions of a batch go, else a power of two of them. */
  readonly isFilledUp?: boolean;
  /** Questions of different groups never share a statement: its text is of one kind. */
  groupOf?(question: Question): string;
  /** How long the way to the database and back takes, in ms; Infinity as long as it is not known. */
  wayMs(): number;
  /** What a question adds to its statement, in bytes, where that may be much. */
  bytesOf?(question: Question): number;
  /**
   * Whether a statement was refused, and not done, for the sake of one of its questions: then each half goes by itself.
   * Never for an error that leaves open whether it was done.
   */
  isAboutOne?(error: unknown): boolean;
}

/** Somebody who waits for an answer. */
interface Asker<Answer> extends Pick<PromiseWithResolvers<Answer>, 'resolve' | 'reject'> {
  readonly deadline: Deadline;
}

/** A question and all who ask it. */
export interface Entry<Question, Answer> {
  readonly question: Question;
  /** What it adds to its statement. */
  readonly bytes: number;
  askers: Asker<Answer>[];
}

/** Questions that may travel in one statement, by their key, in the order they came. */
export interface Batch<Question, Answer> {
  readonly group: string;
  readonly entries: Map<string, Entry<Question, Answer>>;
  /** When the first of them came, in ms of `performance.now()`. */
  readonly since: number;
}

/** A queue of questions that are not sent yet, in batches. */
export function createWaitingLine<Question, Answer>(
  keyOf: (question: Question) => string,
  { batch: most, isFilledUp, groupOf, bytesOf }: TravelRules<Question>,
) {
  // A new Map for each batch. One Map for all would outgrow table after table; V8 links each to the next for the sake of
  // iterators (OrderedHashTable), and one that has grown old keeps all later ones, with their requests, from the
  // collector of the young.
  let line: Batch<Question, Answer>[] = [];
  let askers = 0;

  const lastOf = (group: string) => line.findLast((batch) => batch.group === group);

  const addEntry = (key: string, entry: Entry<Question, Answer>): void => {
    const group = groupOf?.(entry.question) ?? '';
    const last = lastOf(group);
    if (last !== undefined && last.entries.size < most && bytesIn(last) + entry.bytes <= BATCH_BYTES) {
      last.entries.set(key, entry);
    } else line.push({ group, entries: new Map([[key, entry]]), since: performance.now() });
  };

  return {
    batches: (): readonly Batch<Question, Answer>[] => line,
    /** Whether none can join it any more: it has as many questions as a statement takes, or a later one has been begun. */
    isFull: (batch: Batch<Question, Answer>): boolean => batch.entries.size >= most || lastOf(batch.group) !== batch,
    /** How many wait for their answers. */
    askers: () => askers,
    /** The answer to a question, which joins an equal one. */
    join(question: Question, deadline: Deadline): Promise<Answer> {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      const asker: Asker<Answer> = { resolve, reject, deadline };
      const key = keyOf(question);
      for (const { entries } of line) {
        const equal = entries.get(key);
        if (equal !== undefined) {
          equal.askers.push(asker);
          askers++;
          return promise;
        }
      }
      addEntry(key, { question, bytes: bytesOf?.(question) ?? 0, askers: [asker] });
      askers++;
      return promise;
    },
    /** Takes the first questions of a batch out of the queue. */
    take(batch: Batch<Question, Answer>): Entry<Question, Answer>[] {
      const entries = [...batch.entries.values()];
      // Powers of two: few different texts, so that each stays prepared.
      const taken = isFilledUp ? entries : entries.slice(0, 2 ** Math.floor(Math.log2(entries.length)));
      const rest = taken.length < entries.length ? [...batch.entries].slice(taken.length) : [];
      if (rest.length > 0) line[line.indexOf(batch)] = { ...batch, entries: new Map(rest) };
      else line.splice(line.indexOf(batch), 1);
      askers -= countAskers(taken);
      return taken;
    },
    /** Tells those whose time is over. */
    dismissLate(): void {
      for (const { entries } of line) {
        dismissLate(entries.values());
        for (const [key, { askers }] of entries) if (askers.length === 0) entries.delete(key);
      }
      line = line.filter(({ entries }) => entries.size > 0);
      askers = line.reduce((sum, { entries }) => sum + countAskers(entries.values()), 0);
    },
  };
}

function bytesIn<Question, Answer>({ entries }: Batch<Question, Answer>): number {
  let sum = 0;
  for (const { bytes } of entries.values()) sum += bytes;
  return sum;
}

/** Tells those whose time is over: DatabaseFault `unavailable`. */
export function dismissLate<Answer>(entries: Iterable<Entry<unknown, Answer>>): void {
  for (const entry of entries) {
    const late = entry.askers.filter(({ deadline }) => remainingMs(deadline) === 0);
    if (late.length === 0) continue;
    entry.askers = entry.askers.filter((asker) => !late.includes(asker));
    const fault = () => new DatabaseFault('unavailable', new Error('the database did not answer in time'));
    for (const { reject } of late) reject(fault());
  }
}

/** How many wait for the answers to these. */
export function countAskers<Answer>(entries: Iterable<Entry<unknown, Answer>>): number {
  let count = 0;
  for (const { askers } of entries) count += askers.length;
  return count;
}

/** Questions, with the last one again until there are a power of two: for a statement that may ask twice. */
export function fillUp<Question>(questions: readonly Question[]): readonly Question[] {
  const size = 2 ** Math.ceil(Math.log2(questions.length));
  if (size === questions.length) return questions;
  return Array.from({ length: size }, (_, index) => questions[Math.min(index, questions.length - 1)] as Question); // within
}
