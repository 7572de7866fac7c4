/** What an error of the database means. An error may have several meanings; without one, the database cannot do the work now. */
export type Meaning =
  | 'wrongStatement' // a bug of the caller: nothing that operators do to a database causes it
  | 'rolledBack' // nothing was done: the transaction was rolled back in favour of another
  | 'notBegun' // nothing was done: the statement was refused before it began
  | 'readOnly' // this server takes no writes
  | 'noWriter' // no server takes writes
  | 'notReady' // this server does not serve: it shuts down, or has left its cluster
  | 'unknownOutcome' // the statement may have taken effect
  | 'sessionEnded' // the server closes the connection
  | 'staleSession' // a new session may have more rights, or a newer schema
  | 'rowRefused' // by a type, a constraint or a trigger; no row of the statement was written
  | 'duplicate' // there is a row with the same key
  | 'idTaken' // AUTO_INCREMENT gave an id that exists already, or none
  | 'lockWait' // another transaction held a lock for too long
  | 'tooLarge'
  | (typeof PERMANENT)[number];

/** THE list of permanent errors, which last until somebody changes a setting, the account or the database. */
export const PERMANENT = ['accessDenied', 'unknownDatabase', 'untrusted', 'unusable'] as const;

/** Meanings by SQLSTATE class, the first two characters (ISO 9075-2; 70 is MySQL's own). MYSQL_NUMBERS takes precedence. */
const SQLSTATES: Readonly<Record<string, readonly Meaning[]>> = {
  '08': ['unknownOutcome', 'sessionEnded'], // connection exception
  22: ['rowRefused'], // data exception: a narrowed column refuses a value
  23: ['rowRefused'], // integrity constraint violation
  28: ['accessDenied'], // invalid authorization specification
  42: ['unusable'], // syntax error or access rule violation: a table is missing, or there already
  44: ['rowRefused'], // with check option violation: a view has replaced the table
  45: ['rowRefused'], // a trigger's own refusal
  70: ['unknownOutcome'], // interrupted
};

/**
 * Meanings by error number of the MySQL protocol, where the SQLSTATE class does not tell. Sources: up to 6999
 * https://dev.mysql.com/doc/mysql-errors/9.7/en/server-error-reference.html (2000 to 2999:
 * https://dev.mysql.com/doc/mysql-errors/9.7/en/client-error-reference.html), and where MariaDB is named
 * https://mariadb.com/kb/en/mariadb-error-code-reference/; from 8000 on https://docs.pingcap.com/tidb/stable/error-codes/
 */
const MYSQL_NUMBERS: Readonly<Record<number, readonly Meaning[]>> = {
  167: ['idTaken'], // HA_ERR_AUTOINC_ERANGE (MariaDB)
  1020: ['rolledBack'], // ER_CHECKREAD: MariaDB's snapshot conflict
  1040: [], // ER_CON_COUNT_ERROR: its class is that of lost connections, but nothing was begun
  1044: ['staleSession', 'accessDenied'], // ER_DBACCESS_DENIED_ERROR
  1046: ['staleSession'], // ER_NO_DB_ERROR
  1047: ['notReady', 'notBegun'], // ER_UNKNOWN_COM_ERROR: Galera's "not yet prepared node for application use"
  1049: ['unknownDatabase'], // ER_BAD_DB_ERROR
  1053: ['notReady', 'sessionEnded'], // ER_SERVER_SHUTDOWN
  1062: ['duplicate', 'rowRefused'], // ER_DUP_ENTRY
  1064: ['wrongStatement'], // ER_PARSE_ERROR
  1065: ['wrongStatement'], // ER_EMPTY_QUERY
  1077: ['notReady'], // ER_NORMAL_SHUTDOWN
  1079: ['notReady'], // ER_SHUTDOWN_COMPLETE
  1105: ['unknownOutcome'], // ER_UNKNOWN_ERROR: Vitess gives it for any error, https://vitess.io/docs/reference/errors/query-serving/
  1130: ['accessDenied'], // ER_HOST_NOT_PRIVILEGED: an account has a name and a host
  1136: ['wrongStatement'], // ER_WRONG_VALUE_COUNT_ON_ROW
  1142: ['staleSession', 'accessDenied'], // ER_TABLEACCESS_DENIED_ERROR: a session keeps the rights that it began with
  1143: ['staleSession', 'accessDenied'], // ER_COLUMNACCESS_DENIED_ERROR
  1153: ['tooLarge', 'sessionEnded'], // ER_NET_PACKET_TOO_LARGE
  1180: ['unknownOutcome'], // ER_ERROR_DURING_COMMIT
  1203: [], // ER_TOO_MANY_USER_CONNECTIONS
  1205: ['rolledBack', 'lockWait'], // ER_LOCK_WAIT_TIMEOUT
  1206: ['rolledBack'], // ER_LOCK_TABLE_FULL
  1213: ['rolledBack'], // ER_LOCK_DEADLOCK: also Galera's certification failure at commit
  1226: [], // ER_USER_LIMIT_REACHED
  1227: ['staleSession', 'accessDenied'], // ER_SPECIFIC_ACCESS_DENIED_ERROR
  1243: ['staleSession', 'notBegun'], // ER_UNKNOWN_STMT_HANDLER: a server that has forgotten what it prepared
  1251: ['accessDenied'], // ER_NOT_SUPPORTED_AUTH_MODE
  1265: ['rowRefused'], // WARN_DATA_TRUNCATED
  1290: ['readOnly', 'notBegun'], // ER_OPTION_PREVENTS_STATEMENT: --read-only, --super-read-only
  1300: ['rowRefused'], // ER_INVALID_CHARACTER_STRING
  1301: ['tooLarge'], // ER_WARN_ALLOWED_PACKET_OVERFLOWED
  1317: ['unknownOutcome', 'sessionEnded'], // ER_QUERY_INTERRUPTED: MySQL says so of KILL CONNECTION, too
  1366: ['rowRefused'], // ER_TRUNCATED_WRONG_VALUE_FOR_FIELD
  1390: ['wrongStatement'], // ER_PS_MANY_PARAM
  1412: ['rolledBack'], // ER_TABLE_DEF_CHANGED: the table was altered after the transaction had begun
  1461: [], // ER_MAX_PREPARED_STMT_COUNT_REACHED
  1467: ['idTaken'], // ER_AUTOINC_READ_FAILED
  1524: ['accessDenied'], // ER_PLUGIN_IS_NOT_LOADED: the account's own
  1526: ['rowRefused'], // ER_NO_PARTITION_FOR_GIVEN_VALUE
  1615: ['notBegun'], // ER_NEED_REPREPARE
  1644: ['rowRefused'], // ER_SIGNAL_EXCEPTION: a trigger's own refusal
  1792: ['readOnly', 'notBegun'], // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
  1820: ['staleSession', 'accessDenied'], // ER_MUST_CHANGE_PASSWORD
  1836: ['readOnly', 'notBegun'], // ER_READ_ONLY_MODE
  1862: ['staleSession', 'accessDenied'], // ER_MUST_CHANGE_PASSWORD_LOGIN
  1874: ['readOnly', 'notBegun'], // ER_INNODB_READ_ONLY
  1927: ['unknownOutcome', 'sessionEnded'], // ER_CONNECTION_KILLED (MariaDB)
  1969: ['unknownOutcome'], // ER_STATEMENT_TIMEOUT (MariaDB)
  // Errors that a proxy's client library met, https://github.com/sysown/proxysql/issues/2912
  2006: ['unknownOutcome'], // CR_SERVER_GONE_ERROR
  2013: ['unknownOutcome'], // CR_SERVER_LOST
  2055: ['unknownOutcome'], // CR_SERVER_LOST_EXTENDED
  3024: ['unknownOutcome'], // ER_QUERY_TIMEOUT
  3032: ['notReady'], // ER_SERVER_OFFLINE_MODE
  3100: ['unknownOutcome', 'readOnly'], // ER_RUN_HOOK_ERROR: a member leaves its group during a commit, which may have reached the others
  3101: ['rolledBack'], // ER_TRANSACTION_ROLLBACK_DURING_COMMIT: Group Replication's certification
  3159: ['untrusted'], // ER_SECURE_TRANSPORT_REQUIRED
  3169: ['unknownOutcome', 'sessionEnded'], // ER_SESSION_WAS_KILLED
  3572: ['rolledBack', 'lockWait'], // ER_LOCK_NOWAIT
  3796: ['notReady'], // ER_GRP_TRX_CONSISTENCY_NOT_ALLOWED: the member is not online
  3797: ['notReady'], // ER_GRP_TRX_CONSISTENCY_BEFORE: the group did not answer
  3798: ['unknownOutcome'], // ER_GRP_TRX_CONSISTENCY_AFTER_ON_TRX_BEGIN
  3799: ['notReady'], // ER_GRP_TRX_CONSISTENCY_BEGIN_NOT_ALLOWED: as 3796
  3819: ['rowRefused'], // ER_CHECK_CONSTRAINT_VIOLATED
  3988: ['rowRefused'], // ER_CANNOT_CONVERT_STRING
  4031: ['unknownOutcome', 'sessionEnded'], // ER_CLIENT_INTERACTION_TIMEOUT
  6400: ['notReady'], // ER_SERVER_OFFLINE_MODE_REASON
  8002: ['rolledBack'], // a transaction with SELECT FOR UPDATE met a conflict
  8005: ['rolledBack'], // write conflict, the transaction's start is stale
  8022: ['rolledBack'], // the commit failed and was rolled back
  8028: ['rolledBack'], // the schema changed meanwhile
  8229: ['rolledBack'], // the transaction took longer than allowed
  8501: ['unknownOutcome'], // the result of a commit is undetermined
  9002: ['unknownOutcome'], // TiKV does not answer
  9004: ['rolledBack'], // too many conflicts
  9006: ['rolledBack'], // the transaction began before the oldest version that is stored
  9007: ['rolledBack'], // write conflict
};

/** Meanings by error code of mysql2. */
const DRIVER_CODES: Readonly<Record<string, readonly Meaning[]>> = {
  AUTH_SWITCH_PLUGIN_ERROR: ['untrusted'], // the server asks for the password in a way that is unknown
  HANDSHAKE_NO_SSL_SUPPORT: ['untrusted'],
  MYSQL_CLEAR_PASSWORD_NOT_ENABLED: ['untrusted'],
};
/** Codes of the system, of mysql2 and of pools; Node's own begin with ERR_. */
const EXTERNAL_CODES = /^(?:E(?!RR_)|PROTOCOL_|HANDSHAKE_|POOL_)/;
/** Codes of a connection that was lost during a statement; not of a failed connect. */
const LOST_CODES = /^(?:ECONNRESET|EPIPE|ERR_\w+|PROTOCOL_\w+)$/;
/** Codes of TLS. A handshake may fail for any reason; only the message tells whether one side refused the other. */
const TLS_CODES = /^(?:HANDSHAKE_SSL_ERROR|ERR_SSL_\w+)$/;
const TLS_REFUSAL = /certificate|\balert\b/i;
/** The end of MySQL's message of a duplicate, which is the index's name. */
const PRIMARY_KEY = /for key '(?:[^']+\.)?PRIMARY'$/;

/** The parts of an error of mysql2, and of one that says itself what it means. */
interface DatabaseError {
  /** Of mysql2 or the system. */
  readonly code?: string;
  /** The server's error number, or the system's negative one. */
  readonly errno?: number;
  readonly sqlState?: string;
  /** Whether the connection is lost. */
  readonly fatal?: boolean;
  readonly message?: string;
  readonly meanings?: readonly Meaning[];
}

/** The parts of anything thrown, each of which may be missing. */
export function partsOf(thrown: unknown): DatabaseError {
  return typeof thrown === 'object' && thrown !== null ? thrown : {};
}

/** Whether it was thrown by the server, mysql2, the network or a pool. */
export function isDatabaseError(thrown: unknown): boolean {
  const { code = '', errno, fatal } = partsOf(thrown);
  return errno !== undefined || fatal === true || EXTERNAL_CODES.test(code);
}

/** What an error means; empty for one without a known meaning, and for anything else. */
export function meaningsOf(thrown: unknown): readonly Meaning[] {
  const { code = '', errno = 0, sqlState = '', fatal, message = '', meanings } = partsOf(thrown);
  if (meanings) return meanings;
  if (TLS_CODES.test(code) && TLS_REFUSAL.test(message)) return ['untrusted', 'unknownOutcome'];
  if (LOST_CODES.test(code) || (fatal && code === '')) return ['unknownOutcome'];
  const found = DRIVER_CODES[code] ?? MYSQL_NUMBERS[errno] ?? SQLSTATES[sqlState.slice(0, 2)] ?? [];
  return found.includes('duplicate') && PRIMARY_KEY.test(message) ? [...found, 'idTaken'] : found;
}

/** Whether an error has one of these meanings. */
export function means(thrown: unknown, ...meanings: readonly Meaning[]): boolean {
  const found = meaningsOf(thrown);
  return meanings.some((meaning) => found.includes(meaning));
}
