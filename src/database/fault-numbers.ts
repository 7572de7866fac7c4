/** What an error of the database means to us; an error may mean several things, or nothing we know. */
export type Meaning =
  /** Nothing was done: it was undone in favour of another. */
  | 'rolledBack'
  /** A later try may succeed. */
  | 'notNow'
  /** This server takes no writes. */
  | 'readOnly'
  /** This server is no working member of its cluster. */
  | 'notReady'
  /** It may have been done. */
  | 'unknownOutcome'
  /** The session is of the past: a new one may do, or know, more. */
  | 'staleSession'
  /** A rule that operations have made: it may be about one row of several, of which none was written. */
  | 'ruled'
  | 'duplicate'
  /** The last id that AUTO_INCREMENT can give is used. */
  | 'outOfIds'
  | 'lockWait'
  | 'tooLarge';

/**
 * The error numbers of the MySQL protocol. Sources: up to 4999
 * https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html (2000 to 2999:
 * https://dev.mysql.com/doc/mysql-errors/en/client-error-reference.html), and where MariaDB is named
 * https://mariadb.com/kb/en/mariadb-error-code-reference/; from 8000 on https://docs.pingcap.com/tidb/stable/error-codes/
 */
export const NUMBERS: Readonly<Record<number, readonly Meaning[]>> = {
  3: ['notNow'], // EE_WRITE: disk full while writing a file
  167: ['outOfIds'], // HA_ERR_AUTOINC_ERANGE (MariaDB)
  1016: ['notNow'], // ER_CANT_OPEN_FILE
  1017: ['notNow'], // ER_FILE_NOT_FOUND
  1020: ['rolledBack'], // ER_CHECKREAD: MariaDB's snapshot conflict
  1021: ['notNow'], // ER_DISK_FULL
  1023: ['notNow'], // ER_ERROR_ON_CLOSE
  1026: ['notNow'], // ER_ERROR_ON_WRITE
  1030: ['notNow'], // ER_GET_ERRNO: the storage engine's own fault
  1034: ['notNow'], // ER_NOT_KEYFILE
  1036: ['notNow'], // ER_OPEN_AS_READONLY
  1037: ['notNow'], // ER_OUTOFMEMORY
  1038: ['notNow'], // ER_OUT_OF_SORTMEMORY
  1040: ['notNow'], // ER_CON_COUNT_ERROR
  1041: ['notNow'], // ER_OUT_OF_RESOURCES
  1044: ['notNow', 'staleSession'], // ER_DBACCESS_DENIED_ERROR
  1045: ['notNow'], // ER_ACCESS_DENIED_ERROR
  1046: ['notNow', 'staleSession'], // ER_NO_DB_ERROR
  1047: ['notReady'], // ER_UNKNOWN_COM_ERROR: Galera's "not yet prepared node for application use"
  1049: ['notNow'], // ER_BAD_DB_ERROR
  1053: ['notReady'], // ER_SERVER_SHUTDOWN
  1054: ['notNow'], // ER_BAD_FIELD_ERROR: somebody has changed the table, or its change is still to come
  1062: ['duplicate'], // ER_DUP_ENTRY
  1077: ['notReady'], // ER_NORMAL_SHUTDOWN
  1079: ['notReady'], // ER_SHUTDOWN_COMPLETE
  1114: ['notNow'], // ER_RECORD_FILE_FULL
  1129: ['notNow'], // ER_HOST_IS_BLOCKED
  1135: ['notNow'], // ER_CANT_CREATE_THREAD
  1142: ['notNow', 'staleSession'], // ER_TABLEACCESS_DENIED_ERROR: rights on a database are those of the session's begin
  1143: ['notNow', 'staleSession'], // ER_COLUMNACCESS_DENIED_ERROR
  1146: ['notNow'], // ER_NO_SUCH_TABLE: as 1054
  1152: ['unknownOutcome'], // ER_ABORTING_CONNECTION
  1153: ['tooLarge'], // ER_NET_PACKET_TOO_LARGE
  1158: ['unknownOutcome'], // ER_NET_READ_ERROR
  1159: ['unknownOutcome'], // ER_NET_READ_INTERRUPTED
  1160: ['unknownOutcome'], // ER_NET_ERROR_ON_WRITE
  1161: ['unknownOutcome'], // ER_NET_WRITE_INTERRUPTED
  1176: ['notNow'], // ER_KEY_DOES_NOT_EXIST: as 1054
  1180: ['unknownOutcome'], // ER_ERROR_DURING_COMMIT
  1184: ['unknownOutcome'], // ER_NEW_ABORTING_CONNECTION
  1194: ['notNow'], // ER_CRASHED_ON_USAGE
  1195: ['notNow'], // ER_CRASHED_ON_REPAIR
  1203: ['notNow'], // ER_TOO_MANY_USER_CONNECTIONS
  1205: ['rolledBack', 'lockWait'], // ER_LOCK_WAIT_TIMEOUT
  1206: ['rolledBack'], // ER_LOCK_TABLE_FULL
  1213: ['rolledBack'], // ER_LOCK_DEADLOCK: also Galera's certification failure at commit
  1226: ['notNow'], // ER_USER_LIMIT_REACHED
  1227: ['notNow', 'staleSession'], // ER_SPECIFIC_ACCESS_DENIED_ERROR
  1243: ['notNow', 'staleSession'], // ER_UNKNOWN_STMT_HANDLER: a server that has forgotten what it prepared
  1290: ['readOnly'], // ER_OPTION_PREVENTS_STATEMENT: --read-only, --super-read-only
  1301: ['tooLarge'], // ER_WARN_ALLOWED_PACKET_OVERFLOWED
  1317: ['unknownOutcome'], // ER_QUERY_INTERRUPTED
  1356: ['notNow'], // ER_VIEW_INVALID
  1364: ['notNow'], // ER_NO_DEFAULT_FOR_FIELD: as 1054
  1412: ['rolledBack'], // ER_TABLE_DEF_CHANGED: the table was altered after the transaction had begun
  1449: ['notNow'], // ER_NO_SUCH_USER: who made a view or a trigger is gone
  1452: ['notNow', 'ruled'], // ER_NO_REFERENCED_ROW_2
  1461: ['notNow'], // ER_MAX_PREPARED_STMT_COUNT_REACHED
  1467: ['outOfIds'], // ER_AUTOINC_READ_FAILED
  1615: ['notNow'], // ER_NEED_REPREPARE
  1637: ['notNow'], // ER_TOO_MANY_CONCURRENT_TRXS
  1644: ['notNow', 'ruled'], // ER_SIGNAL_EXCEPTION: a trigger's own refusal
  1792: ['readOnly'], // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
  1812: ['notNow'], // ER_TABLESPACE_MISSING
  1814: ['notNow'], // ER_TABLESPACE_DISCARDED
  1820: ['notNow', 'staleSession'], // ER_MUST_CHANGE_PASSWORD
  1836: ['readOnly'], // ER_READ_ONLY_MODE
  1874: ['readOnly'], // ER_INNODB_READ_ONLY
  1878: ['notNow'], // ER_TEMP_FILE_WRITE_FAILURE
  1927: ['unknownOutcome'], // ER_CONNECTION_KILLED (MariaDB)
  1932: ['notNow'], // ER_NO_SUCH_TABLE_IN_ENGINE (MariaDB)
  1969: ['unknownOutcome'], // ER_STATEMENT_TIMEOUT (MariaDB)
  // What a proxy's own client library met, https://github.com/sysown/proxysql/issues/2912
  2002: ['notNow'], // CR_CONNECTION_ERROR
  2003: ['notNow'], // CR_CONN_HOST_ERROR
  2006: ['unknownOutcome'], // CR_SERVER_GONE_ERROR
  2013: ['unknownOutcome'], // CR_SERVER_LOST
  2055: ['unknownOutcome'], // CR_SERVER_LOST_EXTENDED
  3024: ['unknownOutcome'], // ER_QUERY_TIMEOUT
  3032: ['notReady'], // ER_SERVER_OFFLINE_MODE
  3100: ['rolledBack', 'readOnly'], // ER_RUN_HOOK_ERROR: a member that has left its group stops the commit
  3101: ['rolledBack'], // ER_TRANSACTION_ROLLBACK_DURING_COMMIT: Group Replication's certification
  3168: ['notNow'], // ER_SERVER_ISNT_AVAILABLE
  3169: ['unknownOutcome'], // ER_SESSION_WAS_KILLED
  3572: ['rolledBack', 'lockWait'], // ER_LOCK_NOWAIT
  3796: ['notReady'], // ER_GRP_TRX_CONSISTENCY_NOT_ALLOWED: of a member that is not online
  3797: ['notReady'], // ER_GRP_TRX_CONSISTENCY_BEFORE: the group did not answer
  3798: ['unknownOutcome'], // ER_GRP_TRX_CONSISTENCY_AFTER_ON_TRX_BEGIN
  3819: ['notNow', 'ruled'], // ER_CHECK_CONSTRAINT_VIOLATED
  4025: ['notNow', 'ruled'], // ER_CONSTRAINT_FAILED (MariaDB)
  4031: ['notNow'], // ER_CLIENT_INTERACTION_TIMEOUT: the connection was idle for too long
  8002: ['rolledBack'], // a transaction with SELECT FOR UPDATE met a conflict
  8005: ['rolledBack'], // write conflict, the transaction's start is stale
  8022: ['rolledBack'], // the commit failed and was rolled back
  8028: ['rolledBack'], // the schema changed meanwhile
  8229: ['rolledBack'], // the transaction took longer than allowed
  8501: ['unknownOutcome'], // the result of a commit is undetermined
  9001: ['notNow'], // PD does not answer
  9002: ['unknownOutcome'], // TiKV does not answer
  9003: ['notNow'], // TiKV is busy
  9004: ['rolledBack'], // too many conflicts
  9005: ['notNow'], // a region is unavailable
  9006: ['rolledBack'], // the transaction's start is older than what is kept
  9007: ['rolledBack'], // write conflict
};

/** SQLite's primary result codes, https://www.sqlite.org/rescode.html */
export const SQLITE_CODES: Readonly<Record<number, readonly Meaning[]>> = {
  3: ['notNow'], // PERM
  5: ['notNow'], // BUSY
  6: ['notNow'], // LOCKED
  7: ['notNow'], // NOMEM
  8: ['notNow'], // READONLY
  9: ['notNow'], // INTERRUPT
  10: ['notNow'], // IOERR
  11: ['notNow'], // CORRUPT
  13: ['notNow'], // FULL
  14: ['notNow'], // CANTOPEN
  15: ['notNow'], // PROTOCOL: locks could not be had
  17: ['notNow'], // SCHEMA
  18: ['tooLarge'], // TOOBIG
  23: ['notNow'], // AUTH
  26: ['notNow'], // NOTADB: another file stands in its place
};

/** SQLite's extended result codes that mean more than their primary one. */
export const SQLITE_EXTENDED_CODES: Readonly<Record<number, readonly Meaning[]>> = {
  275: ['notNow', 'ruled'], // CONSTRAINT_CHECK
  787: ['notNow', 'ruled'], // CONSTRAINT_FOREIGNKEY
  1555: ['duplicate'], // CONSTRAINT_PRIMARYKEY
  1811: ['notNow', 'ruled'], // CONSTRAINT_TRIGGER
  2067: ['duplicate'], // CONSTRAINT_UNIQUE
};
