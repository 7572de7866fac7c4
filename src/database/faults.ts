import { setTimeout as delay } from 'node:timers/promises';
import { type Deadline, remainingMs } from '../deadline.ts';
import { ATTEMPT_MS } from '../deadlines.ts';
import { DatabaseFault } from '../errors.ts';
import { type Meaning, NUMBERS, SQLITE_CODES, STATE_CLASSES } from './fault-numbers.ts';

/** Attempts in all for a statement or transaction that the database rolled back in favour of another. */
const ATTEMPTS = 4;
const JITTER_MS = 25;

/** What drivers and the pool put on their errors, all of it optional. */
interface DriverError {
  readonly name?: string;
  readonly code?: string;
  readonly errno?: number;
  readonly sqlState?: string;
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
  if (error instanceof DatabaseFault || isOurs(error)) return error;
  if (means(error, 'tooLarge')) return new DatabaseFault('tooLarge', error);
  return new DatabaseFault(driverError(error).code === 'POOL_NO_WRITER' ? 'noWriter' : 'unavailable', error);
}

/**
 * THE rule of what is 500 and what is 503: whatever the network, the pool or the database itself says is no fault of ours, known
 * or not, for operations can make a database say anything. But that a statement is wrong is, and what nobody there has said.
 */
function isOurs(error: unknown): boolean {
  const fault = driverError(error);
  if (isBroken(fault)) return false;
  return (fault.errno === undefined && fault.errcode === undefined) || means(error, 'ours');
}

/** Whether a row with the same key stands in the way. */
export function isDuplicate(error: unknown): boolean {
  return means(error, 'duplicate');
}

/** Whether another transaction held a lock for too long. */
export function isLockWait(error: unknown): boolean {
  return means(error, 'lockWait');
}

/** Whether a statement was refused, perhaps for the sake of one of its rows, and nothing of it was done. */
export function isRefused(error: unknown): boolean {
  return (error instanceof DatabaseFault && error.meaning === 'tooLarge') || means(error, 'ruled');
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
  const { errno = 0, sqlState = '', errcode = 0, message = '' } = driverError(error);
  if (errcode === SQLITE_ERROR) return meaning === 'ours' && SQLITE_SYNTAX.test(message);
  const ofSqlite = SQLITE_CODES[errcode] ?? SQLITE_CODES[errcode & 0xff];
  const meanings = NUMBERS[errno] ?? STATE_CLASSES[sqlState.slice(0, 2)] ?? ofSqlite;
  return meanings?.includes(meaning) ?? false;
}

/** SQLite has one code for all that is wrong with a statement or with the schema. */
const SQLITE_ERROR = 1;
const SQLITE_SYNTAX = /syntax error|^incomplete input/;

/** The number that the server or SQLite gave an error; 0 when it has none. */
export function errorNumber(error: unknown): number {
  const { errno, errcode = 0 } = driverError(error);
  return errno ?? errcode;
}

function driverError(error: unknown): DriverError {
  const thrown = error instanceof DatabaseFault ? error.cause : error;
  return (typeof thrown === 'object' && thrown !== null ? thrown : {}) as DriverError; // only read, and every field may be missing
}

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
