import { setTimeout as delay } from 'node:timers/promises';
import { type Deadline, remainingMs } from '../deadline.ts';
import { ATTEMPT_MS } from '../deadlines.ts';
import { DatabaseFault } from '../errors.ts';
import { type Meaning, NUMBERS, SQLITE_CODES, STATE_CLASSES } from './fault-numbers.ts';

/** Attempts in all for what the database rolled back in favour of another, and for all else that may be done again. */
const ATTEMPTS = { rolledBack: 4, other: 2 };
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

/** Why work may be done again: a read changes nothing, `repeatable` work does no harm twice, a write only if nothing was done. */
export type Repeat = 'read' | 'repeatable' | 'write';

/**
 * Runs `work`; an error whose meaning somebody above must know becomes a DatabaseFault. What was rolled back in favour of
 * another, lost its connection or was refused before it began runs again as far as `repeat` allows.
 */
export async function withoutFaults<T>(
  work: () => PromiseLike<T>,
  deadline: Deadline,
  repeat: Repeat = 'write',
): Promise<T> {
  const leastMs = repeat === 'read' ? 0 : ATTEMPT_MS;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const most = means(error, 'rolledBack') ? ATTEMPTS.rolledBack : ATTEMPTS.other;
      const mayRepeat = didNothing(error) || (repeat !== 'write' && (means(error, 'rolledBack') || isLost(error)));
      if (!mayRepeat || attempt >= most || remainingMs(deadline) <= leastMs) throw toFault(error);
      await delay(Math.random() * JITTER_MS * attempt);
    }
  }
}

/** A server that refuses before it has begun: reads only, no member of its cluster, or one that must prepare anew. */
const REFUSED_BEFORE = [1047, 1243, 1290, 1615, 1792, 1836, 1874];

/**
 * Whether the statement or transaction that failed has certainly done nothing: rolled back, or refused before it began.
 * A member that leaves its group while a commit is certified (3100) may have told the others.
 */
function didNothing(error: unknown): boolean {
  if (REFUSED_BEFORE.includes(errorNumber(error))) return true;
  return means(error, 'rolledBack') && !means(error, 'readOnly');
}

/** Whether a connection was lost under a statement, or its server stopped it: no error of opening one, and no silence. */
function isLost(error: unknown): boolean {
  const { fatal, code = '' } = driverError(error);
  return (
    (fatal === true && code === '') || LOST.test(code) || means(error, 'notReady') || means(error, 'unknownOutcome')
  );
}

/** Codes of the system, of Node, of mysql2 and of the pool. */
const LOST = /^(?:ECONNRESET|EPIPE|ERR_\w+|PROTOCOL_\w+|POOL_NOT_UNDERSTOOD)$/;

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

/** Whether the id that the database assigned to a row was no free one. Where MySQL says so, the text ends with the key's name. */
export function isIdTaken(error: unknown): boolean {
  return (
    means(error, 'outOfIds') || (means(error, 'duplicate') && IS_OF_PRIMARY_KEY.test(driverError(error).message ?? ''))
  );
}

const IS_OF_PRIMARY_KEY = /for key '(?:[^']+\.)?PRIMARY'$/;

/** Whether a statement was refused, perhaps for the sake of one of its rows, and nothing of it was done. */
export function isRefused(error: unknown): boolean {
  return (error instanceof DatabaseFault && error.meaning === 'tooLarge') || means(error, 'ruled');
}

/** Whether this server takes no writes, or is no member of its cluster now: others may. */
export function isHostLost(error: unknown): boolean {
  return means(error, 'readOnly') || means(error, 'notReady');
}

/** Whether the server or the pool said so, and not the driver of an answer that it could not read. */
export function isUnderstood(error: unknown): boolean {
  const { fatal, code = '', sqlState = '' } = driverError(error);
  return fatal === true || code.startsWith('POOL_') || sqlState !== '';
}

/** Whether the error has that meaning; a DatabaseFault is judged by its cause. */
export function means(error: unknown, meaning: Meaning): boolean {
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
