import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, serviceUnavailable } from '../errors.ts';

/** Attempts in all for a statement or transaction that the database rolled back in favour of another. */
const ATTEMPTS = 4;
const JITTER_MS = 25;
/** No new attempt after this time, in ms: the request must have its answer within five seconds. */
const RETRY_BUDGET_MS = 1500;

// All three are rolled back: nothing was done. ER_LOCK_DEADLOCK is also Galera's certification failure at
// commit, ER_CHECKREAD MariaDB's snapshot conflict.
const ER_LOCK_WAIT_TIMEOUT = 1205;
const ROLLED_BACK = new Set([1020, ER_LOCK_WAIT_TIMEOUT, 1213]);

// ER_DUP_ENTRY; SQLITE_CONSTRAINT_PRIMARYKEY and _UNIQUE
const ER_DUP_ENTRY = 1062;
const SQLITE_DUPLICATE = new Set([1555, 2067]);

// The server's own words for "not now", https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html
const NOT_NOW = new Set([
  3, // EE_WRITE: disk full while writing a file
  1020, // ER_CHECKREAD: MariaDB's snapshot conflict
  1021, // ER_DISK_FULL
  1023, // ER_ERROR_ON_CLOSE
  1026, // ER_ERROR_ON_WRITE
  1030, // ER_GET_ERRNO: the storage engine's own fault
  1037, // ER_OUTOFMEMORY
  1040, // ER_CON_COUNT_ERROR
  1041, // ER_OUT_OF_RESOURCES
  1044, // ER_DBACCESS_DENIED_ERROR
  1045, // ER_ACCESS_DENIED_ERROR
  1047, // ER_UNKNOWN_COM_ERROR: Galera's "not yet prepared node for application use"
  1049, // ER_BAD_DB_ERROR
  1053, // ER_SERVER_SHUTDOWN
  1114, // ER_RECORD_FILE_FULL
  1129, // ER_HOST_IS_BLOCKED
  1180, // ER_ERROR_DURING_COMMIT
  1203, // ER_TOO_MANY_USER_CONNECTIONS
  1205, // ER_LOCK_WAIT_TIMEOUT
  1213, // ER_LOCK_DEADLOCK
  1226, // ER_USER_LIMIT_REACHED
  1290, // ER_OPTION_PREVENTS_STATEMENT: --read-only
  1317, // ER_QUERY_INTERRUPTED
  1792, // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
  1836, // ER_READ_ONLY_MODE
  1927, // ER_CONNECTION_KILLED
  1969, // ER_STATEMENT_TIMEOUT (MariaDB)
  3024, // ER_QUERY_TIMEOUT
  3168, // ER_SERVER_ISNT_AVAILABLE
]);

// Primary result codes, https://www.sqlite.org/rescode.html: BUSY LOCKED NOMEM READONLY INTERRUPT IOERR FULL CANTOPEN
const SQLITE_NOT_NOW = new Set([5, 6, 7, 8, 9, 10, 13, 14]);

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
 * Runs `work`; turns "not reachable, not now" into `service_unavailable`. Work that the database rolled back in favour
 * of another runs again if it is `repeatable`: if it would do no harm even though the work had been done.
 */
export async function withoutFaults<T>(work: () => PromiseLike<T>, repeatable = false): Promise<T> {
  const deadline = performance.now() + RETRY_BUDGET_MS;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const fault = error as DriverError; // only read, and every field may be missing
      const rolledBack = ROLLED_BACK.has(fault.errno ?? 0);
      const again = repeatable && rolledBack && attempt < ATTEMPTS && performance.now() < deadline;
      if (!again) throw isUnavailable(fault) ? serviceUnavailable(error) : error;
      await delay(Math.random() * JITTER_MS * attempt);
    }
  }
}

/** Whether a row with the same key stands in the way. */
export function isDuplicate(error: unknown): boolean {
  const fault = error as DriverError; // only read, and every field may be missing
  return fault.errno === ER_DUP_ENTRY || SQLITE_DUPLICATE.has(fault.errcode ?? 0);
}

/** Whether `run` gave up because another transaction held a lock for too long. */
export function isLockWait(error: unknown): boolean {
  return error instanceof ApiError && (error.cause as DriverError | undefined)?.errno === ER_LOCK_WAIT_TIMEOUT; // as above
}

function isUnavailable(fault: DriverError): boolean {
  return (
    fault.fatal === true ||
    NOT_NOW.has(fault.errno ?? 0) ||
    SQLITE_NOT_NOW.has((fault.errcode ?? 0) & 0xff) ||
    /^(?:E[A-Z]+|PROTOCOL_\w+|HANDSHAKE_\w+)$/.test(fault.code ?? '') ||
    fault.name === 'KnexTimeoutError' ||
    // Knex and mysql2 name the closing of a pool or connection by message only.
    /pool is destroyed|Unable to acquire a connection|closed state|aborted/i.test(fault.message ?? '')
  );
}
