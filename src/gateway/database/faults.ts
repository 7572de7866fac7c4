import { setTimeout as delay } from 'node:timers/promises';
import { type Deadline, remainingMs } from '../../lib/deadline/deadline.ts';
import { isDatabaseError, type Meaning, meaningsOf, PERMANENT, partsOf } from '../../lib/mysql-errors/mysql-errors.ts';
import { RETRY_LEAST_MS } from '../deadlines.ts';
import { DatabaseFault } from '../errors.ts';

/** The largest number of attempts, by the reason of the failure: a rollback in favour of another transaction, or another one. */
const ATTEMPTS = { rolledBack: 4, other: 2 };
const JITTER_MS = 25;

/** The kind of work. A read and idempotent work may always be retried, a write only if it certainly had no effect. */
export type WorkKind = 'read' | 'idempotent' | 'write';

/**
 * Runs `work`. Retries it, if `kind` allows, when it was rolled back in favour of another transaction, lost its
 * connection or was refused before it began. Errors of the network, the pool and the database become DatabaseFaults.
 */
export async function withRetries<T>(
  work: () => PromiseLike<T>,
  deadline: Deadline,
  kind: WorkKind = 'write',
): Promise<T> {
  const leastMs = kind === 'read' ? 0 : RETRY_LEAST_MS;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const most = means(error, 'rolledBack') ? ATTEMPTS.rolledBack : ATTEMPTS.other;
      const didNothing = means(error, 'rolledBack', 'notBegun');
      const mayRetry = didNothing || (kind !== 'write' && means(error, 'unknownOutcome', 'notReady'));
      if (!mayRetry || attempt >= most || remainingMs(deadline) <= leastMs) throw toFault(error);
      await delay(Math.random() * JITTER_MS * attempt);
    }
  }
}

/**
 * THE rule of what is 500 and what is 503. Every error of the network, the pool or the database is 503, unknown ones too: a
 * database can say anything. A wrong statement and all other errors are 500.
 */
function toFault(error: unknown): unknown {
  const isExternal = sqliteCode(error) !== undefined || isDatabaseError(error);
  if (error instanceof DatabaseFault || !isExternal || means(error, 'wrongStatement')) return error;
  return new DatabaseFault(FAULTS.find((meaning) => means(error, meaning)) ?? 'unavailable', error);
}

const FAULTS = ['tooLarge', ...PERMANENT, 'noWriter'] as const;

/** Whether a statement was refused and wrote nothing. One of its rows may be the reason. */
export function isRefused(error: unknown): boolean {
  return (error instanceof DatabaseFault && error.meaning === 'tooLarge') || means(error, 'rowRefused');
}

/** Whether the error is permanent: it lasts until somebody changes a setting, the account or the database. */
export function isPermanent(error: unknown): boolean {
  return means(error, ...PERMANENT);
}

/** Whether the error has one of these meanings; a DatabaseFault is judged by its cause. */
export function means(error: unknown, ...meanings: readonly Meaning[]): boolean {
  const thrown = thrownBy(error);
  const code = sqliteCode(error);
  const found = code === undefined ? meaningsOf(thrown) : sqliteMeanings(code, partsOf(thrown).message);
  return meanings.some((meaning) => found.includes(meaning));
}

/** The error number of the server or SQLite; 0 when the error has none. */
export function errorNumber(error: unknown): number {
  return partsOf(thrownBy(error)).errno ?? sqliteCode(error) ?? 0;
}

function thrownBy(error: unknown): unknown {
  return error instanceof DatabaseFault ? error.cause : error;
}

/** The result code of SQLite, https://www.sqlite.org/rescode.html */
function sqliteCode(error: unknown): number | undefined {
  const parts: ReturnType<typeof partsOf> & { readonly errcode?: number } = partsOf(thrownBy(error));
  return parts.errcode;
}

function sqliteMeanings(code: number, message = ''): readonly Meaning[] {
  // SQLite has one code for a wrong statement and for a wrong schema.
  if (code === 1) return /syntax error|^incomplete input/.test(message) ? ['wrongStatement'] : ['unusable'];
  return SQLITE_CODES[code] ?? SQLITE_CODES[code & 0xff] ?? ['unusable'];
}

/** Meanings by result code of SQLite, including extended ones; any other code means `unusable`. */
const SQLITE_CODES: Readonly<Record<number, readonly Meaning[]>> = {
  5: ['lockWait'], // BUSY: another process writes
  6: [], // LOCKED: another connection of this process writes
  18: ['tooLarge'], // TOOBIG
  19: ['rowRefused'], // CONSTRAINT
  20: ['rowRefused'], // MISMATCH
  21: ['wrongStatement'], // MISUSE
  25: ['wrongStatement'], // RANGE
  1555: ['duplicate', 'rowRefused'], // CONSTRAINT_PRIMARYKEY
  2067: ['duplicate', 'rowRefused'], // CONSTRAINT_UNIQUE
};
