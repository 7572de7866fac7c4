import { type Deadline, watchDeadlines } from '../../deadline.ts';
import type { Database } from '../connect.ts';
import { noteTime } from '../time-meter.ts';
import { createCongestionMeter } from './congestion.ts';
import {
  type Batch,
  countAskers,
  createWaitingLine,
  dismissLate,
  type Entry,
  type TravelRules,
} from './waiting-line.ts';

/** The rules for statements on this database: as many under way as it has connections, and what the kind asks for. */
export function travelRules(
  { engine, connectionsMax, wayMs }: Database,
  { sideBySide, batch, writes }: { sideBySide: number; batch: number; writes?: boolean },
): Pick<TravelRules<unknown>, 'underWay' | 'sideBySide' | 'batch' | 'wayMs'> {
  // SQLite: a read is done when it is asked; writes that come during a commit share the next one.
  if (engine === 'sqlite' && writes) return { underWay: 1, sideBySide: 1, batch: 4 * batch, wayMs };
  if (engine === 'sqlite')
    return { underWay: Number.POSITIVE_INFINITY, sideBySide: Number.POSITIVE_INFINITY, batch, wayMs };
  return { underWay: connectionsMax, sideBySide, batch, wayMs };
}

/** Asks; rejects with DatabaseFault `unavailable` at the deadline, whatever the database does. */
export type Ask<Question, Answer> = (question: Question, deadline: Deadline) => Promise<Answer>;

/** Answers several questions by one statement, in their order, until the latest of their deadlines. */
export type AskTogether<Question, Answer> = (
  questions: readonly Question[],
  deadline: Deadline,
) => Promise<readonly Answer[]>;

/** While fewer questions than these are asked of a database that is far, none waits for company, nor for the turn's end. */
const COMPANY_LEAST = 8;

/**
 * Shares reads without ever giving an old answer: a read joins an equal one only while that one still waits to be
 * sent, so every answer is of a statement that began after the question came. Questions that come in one turn of the
 * event loop travel together, unless they are few and the database is far. While others are under way, they wait only if
 * the process or the database is congested. An error reaches those whose statement it is.
 */
export function shareReads<Question, Answer>(
  keyOf: (question: Question) => string,
  askTogether: AskTogether<Question, Answer>,
  rules: TravelRules<Question>,
): Ask<Question, Answer> {
  const line = createWaitingLine<Question, Answer>(keyOf, rules);
  const underWay = createUnderWay<Question, Answer>();
  const congestion = createCongestionMeter(rules.wayMs);
  const ask: typeof askTogether = (questions, deadline) =>
    noteTime(congestion.note, () => askTogether(questions, deadline));
  let turnIsAwaited = false;
  let isPatient = false;

  const awaitTurn = (isHurried = false): void => {
    if (turnIsAwaited) return;
    turnIsAwaited = true;
    // Hurried: not the end of the turn, but of what runs now, so that the questions of one request stay together.
    if (isHurried) queueMicrotask(endTurn);
    else setImmediate(endTurn);
  };

  /** Sends what gains nothing by waiting; the rest goes with the next answer, with more company, or out of patience. */
  const sendReady = (): void => {
    for (let batch = line.batches().find(mayGo); batch !== undefined; batch = line.batches().find(mayGo)) {
      void send(line.take(batch)); // whoever asked is told of a failure
    }
    const [oldest] = line.batches();
    // When all connections are taken, the end of a statement asks for the next turn.
    if (isPatient || oldest === undefined || underWay.size() >= rules.underWay) return;
    isPatient = true;
    setTimeout(endPatience, Math.max(0, oldest.since + congestion.patienceMs() - performance.now()));
  };

  const endTurn = (): void => {
    turnIsAwaited = false;
    sendReady();
  };
  const endPatience = (): void => {
    isPatient = false;
    sendReady();
  };

  const mayGo = (batch: Batch<Question, Answer>): boolean => {
    if (underWay.size() === 0) return true;
    if (underWay.size() >= rules.underWay) return false; // the end of one of them asks for the next turn
    const isFree = congestion.isFar() || underWay.size() < rules.sideBySide;
    if (isFree && !congestion.isCongested()) return true;
    if (line.isFull(batch) && underWay.size() < rules.sideBySide) return true;
    return hasNoCompany() || performance.now() - batch.since >= congestion.patienceMs();
  };

  const hasNoCompany = (): boolean => line.askers() + underWay.askers() < COMPANY_LEAST && congestion.isFar();

  const send = async (entries: readonly Entry<Question, Answer>[]): Promise<void> => {
    await underWay.during(entries, () => answerAll(entries, ask, rules));
    if (line.batches().length > 0) awaitTurn();
  };

  /** Tells those whose time is over; a statement goes on for the others. */
  const watch = watchDeadlines(() => {
    underWay.dismissLate();
    line.dismissLate();
    return underWay.size() + line.batches().length > 0;
  });

  return (question, deadline) => {
    watch();
    const answer = line.join(question, deadline);
    awaitTurn(hasNoCompany());
    return answer;
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

/** Statements on their way. */
function createUnderWay<Question, Answer>() {
  // No Set: one that has grown old keeps what passes through it from the collector of the young, as in waiting-line.ts.
  const statements: (readonly Entry<Question, Answer>[])[] = [];
  let askers = 0;
  return {
    size: () => statements.length,
    /** How many asked those; who has been told meanwhile counts as well. */
    askers: () => askers,
    async during(entries: readonly Entry<Question, Answer>[], work: () => Promise<void>): Promise<void> {
      const count = countAskers(entries);
      askers += count;
      statements.push(entries);
      await work();
      statements.splice(statements.indexOf(entries), 1);
      askers -= count;
    },
    dismissLate() {
      for (const entries of statements) dismissLate(entries);
    },
  };
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
    const answers = await askTogether(
      entries.map(({ question }) => question),
      latestDeadline(entries),
    );
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

/** One who cannot wait so long leaves the others their answer. */
function latestDeadline<Answer>(entries: readonly Entry<unknown, Answer>[]): Deadline {
  let latest: Deadline = 0;
  for (const { askers } of entries) for (const { deadline } of askers) latest = Math.max(latest, deadline);
  return latest;
}
