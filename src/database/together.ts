import { performance } from 'node:perf_hooks';
import type { Deadline } from '../deadline.ts';
import type { Database } from './connect.ts';
import { type Batch, createWaitingLine, dismissLate, type Entry, type TravelRules } from './waiting-line.ts';

/** The rules for statements on this database: as many under way as it has connections, and what the kind asks for. */
export function travelRules(
  { engine, connectionsMax }: Database,
  { whileBusy, batch, writes }: { whileBusy: number; batch: number; writes?: boolean },
): Pick<TravelRules<unknown>, 'underWay' | 'whileBusy' | 'batch'> {
  // SQLite: a read is done when it is asked, each by itself; writes that come during a commit share the next one.
  if (engine === 'sqlite' && writes) return { underWay: 1, whileBusy: 1, batch: 4 * batch };
  if (engine === 'sqlite') return { underWay: Number.POSITIVE_INFINITY, whileBusy: Number.POSITIVE_INFINITY, batch: 1 };
  return { underWay: connectionsMax, whileBusy, batch };
}

/** Asks; rejects with `service_unavailable` at the deadline, whatever the database does. */
export type Ask<Question, Answer> = (question: Question, deadline: Deadline) => Promise<Answer>;

/** Answers several questions by one statement, in their order, until the latest of their deadlines. */
export type AskTogether<Question, Answer> = (
  questions: readonly Question[],
  deadline: Deadline,
) => Promise<readonly Answer[]>;

/** How long a question waits for company while the process is busy, in ms. */
const PATIENCE_MS = 2;

/** The process is busy when its event loop had work for this share of the last moments, which are so many ms. */
const BUSY_SHARE = 0.85;
const BUSY_WINDOW_MS = 20;

/** How often waits are compared with their deadlines, in ms: a timer for each request would cost more than it is worth. */
const WATCH_MS = 50;

/**
 * Shares reads without ever giving an old answer: a read joins an equal one only while that one still waits to be
 * sent, so every answer is of a statement that began after the question came. Questions that come in one turn of the
 * event loop travel together. While others are under way, they wait only as long as the process has other work to do.
 * An error reaches those whose statement it is.
 */
export function shareReads<Question, Answer>(
  keyOf: (question: Question) => string,
  askTogether: AskTogether<Question, Answer>,
  rules: TravelRules<Question>,
): Ask<Question, Answer> {
  const line = createWaitingLine<Question, Answer>(keyOf, rules);
  const underWay = new Set<readonly Entry<Question, Answer>[]>();
  const isBusy = createBusyMeter();
  let turnIsAwaited = false;
  let isWatched = false;
  /** Questions and answers that came, in all and until the end of the last turn. */
  let events = 0;
  let seenEvents = 0;

  const awaitTurn = (): void => {
    if (turnIsAwaited) return;
    turnIsAwaited = true;
    setImmediate(endTurn);
  };

  /** Sends what gains nothing by waiting; what still waits is looked at again after the next turn. */
  const endTurn = (): void => {
    turnIsAwaited = false;
    // Nothing came in a whole turn, and the process has time to spare.
    const isQuiet = events === seenEvents && !isBusy();
    seenEvents = events;
    for (const batch of line.batches()) {
      if (underWay.size >= rules.underWay) return; // the end of one of them asks for the next turn
      if (isQuiet || underWay.size === 0 || mayGo(batch)) send(line.take(batch));
    }
    if (line.batches().length > 0) awaitTurn();
  };

  const mayGo = ({ entries, since }: Batch<Question, Answer>): boolean =>
    (underWay.size < rules.whileBusy && entries.size >= rules.batch) || performance.now() - since > PATIENCE_MS;

  const send = async (entries: readonly Entry<Question, Answer>[]): Promise<void> => {
    underWay.add(entries);
    await answerAll(entries, askTogether, rules);
    underWay.delete(entries);
    events++;
    if (line.batches().length > 0) awaitTurn();
  };

  /** Tells those whose time is over; a statement goes on for the others. */
  const watch = (): void => {
    for (const entries of underWay) dismissLate(entries);
    line.dismissLate();
    isWatched = underWay.size + line.batches().length > 0;
    if (isWatched) setTimeout(watch, WATCH_MS).unref();
  };

  return (question, deadline) => {
    events++;
    awaitTurn();
    if (!isWatched) setTimeout(watch, WATCH_MS).unref();
    isWatched = true;
    return line.join(question, deadline);
  };
}

/** The same for writes: they travel together, but each is one of its own. */
export function sendTogether<Question, Answer>(
  askTogether: AskTogether<Question, Answer>,
  rules: TravelRules<Question>,
): Ask<Question, Answer> {
  let asked = 0;
  return shareReads(() => String(asked++), askTogether, rules);
}

/** Asks, and tells everybody the answer or the error; never rejects. */
async function answerAll<Question, Answer>(
  taken: readonly Entry<Question, Answer>[],
  askTogether: AskTogether<Question, Answer>,
  rules: TravelRules<Question>,
): Promise<void> {
  const entries = taken.filter(({ askers }) => askers.length > 0); // the others were told already
  if (entries.length === 0) return;
  try {
    const questions = entries.map(({ question }) => question);
    // The latest: one who cannot wait so long leaves the others their answer.
    const deadline = Math.max(...entries.flatMap(({ askers }) => askers.map((asker) => asker.deadline)));
    const answers = await askTogether(questions, deadline);
    for (const [index, { askers }] of entries.entries()) {
      for (const { resolve } of askers) resolve(answers[index] as Answer); // one for each question
    }
  } catch (error) {
    if (entries.length > 1 && rules.isAboutOne?.(error)) {
      const half = Math.ceil(entries.length / 2);
      await answerAll(entries.slice(0, half), askTogether, rules);
      await answerAll(entries.slice(half), askTogether, rules);
    } else {
      for (const { askers } of entries) for (const { reject } of askers) reject(error);
    }
  }
}

/** Whether the event loop was busy of late. */
function createBusyMeter(): () => boolean {
  let before = performance.eventLoopUtilization();
  let measuredAt = performance.now();
  let busy = false;
  return () => {
    const now = performance.now();
    if (now - measuredAt > BUSY_WINDOW_MS) {
      const current = performance.eventLoopUtilization();
      busy = performance.eventLoopUtilization(current, before).utilization > BUSY_SHARE;
      before = current;
      measuredAt = now;
    }
    return busy;
  };
}
