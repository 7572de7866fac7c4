import { setTimeout as delay } from 'node:timers/promises';
import { type Deadline, remainingMs } from '../deadline.ts';
import { ATTEMPT_MS } from '../deadlines.ts';
import { DatabaseFault } from '../errors.ts';
import { type Meaning, NUMBERS, SQLITE_CODES, STATE_CLASSES } from './fault-numbers.ts';

/** Attempts in all for what the database rolled back in favour of another, and for all else that may be done again. */
const ATTEMPTS = { rolledBack: 4, other: 2 };
const JITTER_MS = 25;

/** What drivers and the pool put on their errors. */
interface DriverError {
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
 * Runs `work`; an error whose meaning the caller must know becomes a DatabaseFault. Work that was rolled back in favour of
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
      const didNothing = means(error, 'rolledBack', 'notBegun');
      const mayRepeat = didNothing || (repeat !== 'write' && means(error, 'unknownOutcome', 'notReady'));
      if (!mayRepeat || attempt >= most || remainingMs(deadline) <= leastMs) throw toFault(error);
      await delay(Math.random() * JITTER_MS * attempt);
    }
  }
}

/**
 * THE rule of what is 500 and what is 503: whatever the network, the pool or the database itself says is no fault of ours, known
 * or not, for operations can make a database say anything. A wrong statement is ours, and so is what none of them has said.
 */
function toFault(error: unknown): unknown {
  const { fatal, code = '', errno, errcode } = driverError(error);
  const isTheirs = errno !== undefined || errcode !== undefined || fatal === true || THEIR_CODES.test(code);
  if (error instanceof DatabaseFault || !isTheirs || means(error, 'ours')) return error;
  if (means(error, 'tooLarge')) return new DatabaseFault('tooLarge', error);
  return new DatabaseFault(code === 'POOL_NO_WRITER' ? 'noWriter' : 'unavailable', error);
}

/** Codes of the system, of mysql2 and of the pool; Node's own begin with ERR_. */
const THEIR_CODES = /^(?:E(?!RR_)|PROTOCOL_|HANDSHAKE_|POOL_)/;
/** Codes of a connection that was lost under a statement: no error of opening one, and no silence. */
const LOST_CODES = /^(?:ECONNRESET|EPIPE|ERR_\w+|PROTOCOL_\w+|POOL_NOT_UNDERSTOOD)$/;

/** Whether the id that the database assigned to a row was not free. Where MySQL says so, the text ends with the key's name. */
export function isIdTaken(error: unknown): boolean {
  const isOfPrimaryKey = /for key '(?:[^']+\.)?PRIMARY'$/.test(driverError(error).message ?? '');
  return means(error, 'outOfIds') || (means(error, 'duplicate') && isOfPrimaryKey);
}

/** Whether a statement was refused, perhaps for the sake of one of its rows, and nothing of it was done. */
export function isRefused(error: unknown): boolean {
  return (error instanceof DatabaseFault && error.meaning === 'tooLarge') || means(error, 'ruled');
}

/** Whether the server or the pool said so. Otherwise the driver has met an answer that it could not read. */
export function isUnderstood(error: unknown): boolean {
  const { fatal, code = '', sqlState = '' } = driverError(error);
  return fatal === true || code.startsWith('POOL_') || sqlState !== '';
}

/** Whether the error has one of these meanings; a DatabaseFault is judged by its cause. */
export function means(error: unknown, ...meanings: readonly Meaning[]): boolean {
  const found = meaningsOf(driverError(error));
  return meanings.some((meaning) => found.includes(meaning));
}

function meaningsOf({ code = '', errno, sqlState, errcode, fatal, message }: DriverError): readonly Meaning[] {
  // SQLite has one code for all that is wrong with a statement or with the schema.
  if (errcode === 1) return /syntax error|^incomplete input/.test(message ?? '') ? ['ours'] : [];
  if (errcode !== undefined) return SQLITE_CODES[errcode] ?? SQLITE_CODES[errcode & 0xff] ?? [];
  if (LOST_CODES.test(code) || (fatal && code === '')) return ['unknownOutcome'];
  return NUMBERS[errno ?? 0] ?? STATE_CLASSES[sqlState?.slice(0, 2) ?? ''] ?? [];
}

/** The number that the server or SQLite gave an error; 0 when it has none. */
export function errorNumber(error: unknown): number {
  const { errno, errcode = 0 } = driverError(error);
  return errno ?? errcode;
}

function driverError(error: unknown): DriverError {
  const thrown = error instanceof DatabaseFault ? error.cause : error;
  return (typeof thrown === 'object' && thrown !== null ? thrown : {}) as DriverError; // only read, and every field may be missing
}
