import { setTimeout as delay } from 'node:timers/promises';
import { type Deadline, remainingMs } from '../../lib/deadline/deadline.ts';
import { RETRY_LEAST_MS } from '../deadlines.ts';
import { DatabaseFault } from '../errors.ts';
import { DRIVER_CODES, type Meaning, MYSQL_NUMBERS, PERMANENT, SQLITE_CODES, SQLSTATES } from './fault-numbers.ts';

/** The largest number of attempts, by the reason of the failure: a rollback in favour of another transaction, or another one. */
const ATTEMPTS = { rolledBack: 4, other: 2 };
const JITTER_MS = 25;

/** The fields of errors of drivers and the pool. */
interface DriverError {
  readonly code?: string;
  readonly errno?: number;
  readonly sqlState?: string;
  readonly errcode?: number;
  readonly fatal?: boolean;
  readonly message?: string;
}

/** The kind of work. A read and idempotent work may always be retried, a write only if it certainly had no effect. */
export type WorkKind = 'read' | 'idempotent' | 'write';

/** An error of the pool. */
export function poolError(
  code: `POOL_${'CLOSED' | 'TIMEOUT' | 'NO_WRITER' | 'NOT_COMMITTED' | 'NOT_UNDERSTOOD' | 'ONE_ROW' | 'TRUST' | 'PLUGIN' | 'SETTING_REFUSED'}`,
  message: string,
  cause?: unknown,
): Error {
  return Object.assign(new Error(message, cause === undefined ? {} : { cause }), { code });
}

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
  const { fatal, code = '', errno, errcode } = driverError(error);
  const isExternal = errno !== undefined || errcode !== undefined || fatal === true || EXTERNAL_CODES.test(code);
  if (error instanceof DatabaseFault || !isExternal || means(error, 'wrongStatement')) return error;
  if (means(error, 'tooLarge')) return new DatabaseFault('tooLarge', error);
  const permanent = PERMANENT.find((meaning) => means(error, meaning));
  return new DatabaseFault(permanent ?? (code === 'POOL_NO_WRITER' ? 'noWriter' : 'unavailable'), error);
}

/** Codes of the system, of mysql2 and of the pool; Node's own begin with ERR_. */
const EXTERNAL_CODES = /^(?:E(?!RR_)|PROTOCOL_|HANDSHAKE_|POOL_)/;
/** Codes of a connection that was lost during a statement; not of a failed connect or of a timeout. */
const LOST_CODES = /^(?:ECONNRESET|EPIPE|ERR_\w+|PROTOCOL_\w+|POOL_NOT_UNDERSTOOD)$/;
/** Codes of TLS. A handshake may fail for any reason; only the message tells whether one side refused the other. */
const TLS_CODES = /^(?:HANDSHAKE_SSL_ERROR|ERR_SSL_\w+)$/;
const TLS_REFUSAL = /certificate|\balert\b/i;

/** Whether AUTO_INCREMENT gave an id that exists already, or none. MySQL's message of a duplicate ends with the index's name. */
export function isIdTaken(error: unknown): boolean {
  const isOfPrimaryKey = /for key '(?:[^']+\.)?PRIMARY'$/.test(driverError(error).message ?? '');
  return means(error, 'outOfIds') || (means(error, 'duplicate') && isOfPrimaryKey);
}

/** Whether a statement was refused and wrote nothing. One of its rows may be the reason. */
export function isRefused(error: unknown): boolean {
  return (error instanceof DatabaseFault && error.meaning === 'tooLarge') || means(error, 'rowRefused');
}

/** Whether an error was reported by the server or the pool. Otherwise the driver could not parse an answer. */
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
  // SQLite has one code for a wrong statement and for a wrong schema.
  if (errcode === 1) return /syntax error|^incomplete input/.test(message ?? '') ? ['wrongStatement'] : ['unusable'];
  if (errcode !== undefined) return SQLITE_CODES[errcode] ?? SQLITE_CODES[errcode & 0xff] ?? ['unusable'];
  if (TLS_CODES.test(code) && TLS_REFUSAL.test(message ?? '')) return ['untrusted', 'unknownOutcome'];
  if (LOST_CODES.test(code) || (fatal && code === '')) return ['unknownOutcome'];
  return DRIVER_CODES[code] ?? MYSQL_NUMBERS[errno ?? 0] ?? SQLSTATES[sqlState?.slice(0, 2) ?? ''] ?? [];
}

/** Whether the error is permanent: it lasts until somebody changes a setting, the account or the database. */
export function isPermanent(error: unknown): boolean {
  return means(error, ...PERMANENT);
}

/** The error number of the server or SQLite; 0 when the error has none. */
export function errorNumber(error: unknown): number {
  const { errno, errcode = 0 } = driverError(error);
  return errno ?? errcode;
}

function driverError(error: unknown): DriverError {
  const thrown = error instanceof DatabaseFault ? error.cause : error;
  return (typeof thrown === 'object' && thrown !== null ? thrown : {}) as DriverError; // only read, and each field may be missing
}
