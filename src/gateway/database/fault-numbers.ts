/** What an error of the database means. An error may have several meanings; without one, the database cannot do the work now. */
export type Meaning =
  | 'wrongStatement' // a bug of the gateway: nothing that operators do to a database causes it
  | 'rolledBack' // nothing was done: the transaction was rolled back in favour of another
  | 'notBegun' // nothing was done: the statement was refused before it began
  | 'readOnly' // this server takes no writes
  | 'notReady' // this server does not serve: it shuts down, or has left its cluster
  | 'unknownOutcome' // the statement may have taken effect
  | 'staleSession' // a new session may have more rights, or a newer schema
  | 'rowRefused' // by a type, a constraint or a trigger; no row of the statement was written
  | 'duplicate' // there is a row with the same key
  | 'outOfIds' // AUTO_INCREMENT has given its last id
  | 'lockWait' // another transaction held a lock for too long
  | 'tooLarge'
  | (typeof PERMANENT)[number];

/**
 * THE list of permanent errors, which last until somebody changes a setting, the account or the database. They end a start; a
 * start waits for the end of all others, the transient ones. A DatabaseFault may have these meanings, too.
 */
export const PERMANENT = ['accessDenied', 'unknownDatabase', 'untrusted', 'unusable'] as const;

/** Meanings by SQLSTATE class, the first two characters (ISO 9075-2; 70 is MySQL's own). MYSQL_NUMBERS takes precedence. */
export const SQLSTATES: Readonly<Record<string, readonly Meaning[]>> = {
  '08': ['unknownOutcome'], // connection exception
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
export const MYSQL_NUMBERS: Readonly<Record<number, readonly Meaning[]>> = {
  167: ['outOfIds'], // HA_ERR_AUTOINC_ERANGE (MariaDB)
  1020: ['rolledBack'], // ER_CHECKREAD: MariaDB's snapshot conflict
  1040: [], // ER_CON_COUNT_ERROR: its class is that of lost connections, but nothing was begun
  1044: ['staleSession', 'accessDenied'], // ER_DBACCESS_DENIED_ERROR
  1046: ['staleSession'], // ER_NO_DB_ERROR
  1047: ['notReady', 'notBegun'], // ER_UNKNOWN_COM_ERROR: Galera's "not yet prepared node for application use"
  1049: ['unknownDatabase'], // ER_BAD_DB_ERROR
  1053: ['notReady'], // ER_SERVER_SHUTDOWN
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
  1153: ['tooLarge'], // ER_NET_PACKET_TOO_LARGE
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
  1317: ['unknownOutcome'], // ER_QUERY_INTERRUPTED
  1366: ['rowRefused'], // ER_TRUNCATED_WRONG_VALUE_FOR_FIELD
  1390: ['wrongStatement'], // ER_PS_MANY_PARAM
  1412: ['rolledBack'], // ER_TABLE_DEF_CHANGED: the table was altered after the transaction had begun
  1461: [], // ER_MAX_PREPARED_STMT_COUNT_REACHED
  1467: ['outOfIds'], // ER_AUTOINC_READ_FAILED
  1524: ['accessDenied'], // ER_PLUGIN_IS_NOT_LOADED: the account's own
  1526: ['rowRefused'], // ER_NO_PARTITION_FOR_GIVEN_VALUE
  1615: ['notBegun'], // ER_NEED_REPREPARE
  1644: ['rowRefused'], // ER_SIGNAL_EXCEPTION: a trigger's own refusal
  1792: ['readOnly', 'notBegun'], // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
  1820: ['staleSession', 'accessDenied'], // ER_MUST_CHANGE_PASSWORD
  1836: ['readOnly', 'notBegun'], // ER_READ_ONLY_MODE
  1862: ['staleSession', 'accessDenied'], // ER_MUST_CHANGE_PASSWORD_LOGIN
  1874: ['readOnly', 'notBegun'], // ER_INNODB_READ_ONLY
  1927: ['unknownOutcome'], // ER_CONNECTION_KILLED (MariaDB)
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
  3169: ['unknownOutcome'], // ER_SESSION_WAS_KILLED
  3572: ['rolledBack', 'lockWait'], // ER_LOCK_NOWAIT
  3796: ['notReady'], // ER_GRP_TRX_CONSISTENCY_NOT_ALLOWED: the member is not online
  3797: ['notReady'], // ER_GRP_TRX_CONSISTENCY_BEFORE: the group did not answer
  3798: ['unknownOutcome'], // ER_GRP_TRX_CONSISTENCY_AFTER_ON_TRX_BEGIN
  3799: ['notReady'], // ER_GRP_TRX_CONSISTENCY_BEGIN_NOT_ALLOWED: as 3796
  3819: ['rowRefused'], // ER_CHECK_CONSTRAINT_VIOLATED
  3988: ['rowRefused'], // ER_CANNOT_CONVERT_STRING
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

/** Meanings by error code of mysql2 or of the pool (`poolError`). */
export const DRIVER_CODES: Readonly<Record<string, readonly Meaning[]>> = {
  AUTH_SWITCH_PLUGIN_ERROR: ['untrusted'], // the server asks for the password in a way that is unknown
  HANDSHAKE_NO_SSL_SUPPORT: ['untrusted'],
  MYSQL_CLEAR_PASSWORD_NOT_ENABLED: ['untrusted'],
  POOL_ONE_ROW: ['rowRefused'], // the batch is split, so that each row is sent alone
  POOL_PLUGIN: ['accessDenied'],
  POOL_SETTING_REFUSED: ['unusable'],
  POOL_TRUST: ['untrusted'],
};

/** Meanings by result code of SQLite, including extended ones, https://www.sqlite.org/rescode.html; any other code means `unusable`. */
export const SQLITE_CODES: Readonly<Record<number, readonly Meaning[]>> = {
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
