import { setTimeout as delay } from 'node:timers/promises';
import { type Deadline, remainingMs } from '../deadline.ts';
import { ATTEMPT_MS } from '../deadlines.ts';
import { DatabaseFault } from '../errors.ts';
import { type Meaning, NUMBERS, SQLITE_CODES, SQLITE_EXTENDED_CODES } from './fault-numbers.ts';

/** Attempts in all for a statement or transaction that the database rolled back in favour of another. */
const ATTEMPTS = 4;
const JITTER_MS = 25;

/** What drivers and the pool put on their errors, all of it optional. */
interface DriverError {
  readonly name?: string;
  readonly code?: string;
  readonly errno?: number;
  readonly errcode?: number;
  readonly fatal?: boolean;
  readonly message?: string;
}

/**
 * Runs `work`; an error whose meaning somebody above must know becomes a DatabaseFault. Work that the database rolled back
 * in favour of another runs again if it is `repeatable`: if it would do no harm even though the work had been done.
 */
export async function withoutFaults<T>(work: () => PromiseLike<T>, deadline: Deadline, repeatable = false): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const again =
        repeatable && attempt < ATTEMPTS && means(error, 'rolledBack') && remainingMs(deadline) > ATTEMPT_MS;
      if (!again) throw toFault(error);
      await delay(Math.random() * JITTER_MS * attempt);
    }
  }
}

/** What the error means to who asked; itself where it is a fault of ours. */
function toFault(error: unknown): unknown {
  if (error instanceof DatabaseFault) return error;
  if (means(error, 'tooLarge')) return new DatabaseFault('tooLarge', error);
  if (driverError(error).code === 'POOL_NO_WRITER') return new DatabaseFault('noWriter', error);
  return isUnavailable(error) ? new DatabaseFault('unavailable', error) : error;
}

/** Whether a row with the same key stands in the way. */
export function isDuplicate(error: unknown): boolean {
  return means(error, 'duplicate');
}

/** Whether the id that the database assigned to a row was no free one. Where MySQL says so, the text ends with the key's name. */
export function isIdTaken(error: unknown): boolean {
  return means(error, 'outOfIds') || (isDuplicate(error) && IS_OF_PRIMARY_KEY.test(driverError(error).message ?? ''));
}

const IS_OF_PRIMARY_KEY = /for key '(?:[^']+\.)?PRIMARY'$/;

/** Whether another transaction held a lock for too long. */
export function isLockWait(error: unknown): boolean {
  return means(error, 'lockWait');
}

/**
 * Whether a statement was refused, and nothing of it was done. The server's own words come with an SQLSTATE, SQLite's with
 * a result code; what is known to mean "not now" or to leave the outcome open has become a DatabaseFault before, and
 * number 1105 tells nothing.
 */
export function isRefused(error: unknown): boolean {
  if (error instanceof DatabaseFault) return error.meaning === 'tooLarge' || means(error, 'ruled');
  return (
    error instanceof Error && errorNumber(error) !== ER_UNKNOWN_ERROR && ('sqlState' in error || 'errcode' in error)
  );
}

/** Whether this server takes no writes, or is no member of its cluster now: others may. */
export function isHostLost(error: unknown): boolean {
  return means(error, 'readOnly') || means(error, 'notReady');
}

/** Whether a new session may do what this one may not, such as after rights were given back. */
export function isStaleSession(error: unknown): boolean {
  return means(error, 'staleSession');
}

/** Whether the error has that meaning; a DatabaseFault is judged by its cause. */
function means(error: unknown, meaning: Meaning): boolean {
  const { errno = 0, errcode = 0, message = '' } = driverError(error);
  // Vitess has one number for all, and gRPC's words in the text, https://vitess.io/docs/reference/errors/query-serving/
  if (errno === ER_UNKNOWN_ERROR) return meaning === 'notNow' && VITESS_NOT_NOW.test(message);
  if (errcode === SQLITE_ERROR) return meaning === 'notNow' && SQLITE_CHANGED.test(message);
  const meanings = NUMBERS[errno] ?? SQLITE_EXTENDED_CODES[errcode] ?? SQLITE_CODES[errcode & 0xff];
  return meanings?.includes(meaning) ?? false;
}

const ER_UNKNOWN_ERROR = 1105;
const VITESS_NOT_NOW = /\bcode[:=\s]+"?(?:unavailable|resource_?exhausted|aborted|cluster_event|deadline_?exceeded)/i;

/** SQLite has one code for all that is wrong with a statement; these are wrong with the schema, as numbers 1054 and 1146. */
const SQLITE_ERROR = 1;
const SQLITE_CHANGED = /^(?:no such (?:table|column|index)|table \w+ has no column named)\b/;

/** The number that the server or SQLite gave an error; 0 when it has none. */
export function errorNumber(error: unknown): number {
  return driverError(error).errno ?? 0;
}

function driverError(error: unknown): DriverError {
  const thrown = error instanceof DatabaseFault ? error.cause : error;
  return (typeof thrown === 'object' && thrown !== null ? thrown : {}) as DriverError; // only read, and every field may be missing
}

function isUnavailable(error: unknown): boolean {
  return isBroken(driverError(error)) || UNAVAILABLE.some((meaning) => means(error, meaning));
}

const UNAVAILABLE = ['notNow', 'rolledBack', 'readOnly', 'notReady', 'unknownOutcome'] as const satisfies Meaning[];

/** The connection itself is gone, or was never there. */
function isBroken(fault: DriverError): boolean {
  return (
    fault.fatal === true ||
    /^(?:E(?:AI_)?[A-Z]+|PROTOCOL_\w+|HANDSHAKE_\w+|POOL_\w+)$/.test(fault.code ?? '') ||
    fault.name === 'KnexTimeoutError' ||
    // Knex and mysql2 name the closing of a pool or connection by message only.
    /pool is destroyed|Unable to acquire a connection|closed state|aborted/i.test(fault.message ?? '')
  );
}
