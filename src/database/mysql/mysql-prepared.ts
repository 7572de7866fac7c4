import mysql, { type Connection, type ResultSetHeader, type RowDataPacket } from 'mysql2';
import type { Binding } from '../../kinds.ts';
import { errorNumber, poolError } from '../faults.ts';

// A getter, which loads the module again at each access.
const { TypedParameter } = mysql;

/**
 * The server could not prepare the statement and did nothing: ER_UNSUPPORTED_PS of a proxy, ER_MAX_PREPARED_STMT_COUNT_REACHED,
 * ER_NEED_REPREPARE of a server whose table cache is too small.
 */
const NOT_PREPARED = [1295, 1461, 1615];

/** The rows of a prepared statement; rejects with the driver's error. */
export async function readPrepared(
  connection: Connection,
  sql: string,
  bindings: readonly Binding[],
): Promise<RowDataPacket[]> {
  const answer = await executePrepared(connection, sql, bindings);
  return Array.isArray(answer) ? answer : misunderstand();
}

/** After this error the pool ends the connection: the answer may be that of another command. */
function misunderstand(): never {
  throw new Error('the server gave an answer to something else');
}

function executePrepared(
  connection: Connection,
  sql: string,
  bindings: readonly Binding[],
): Promise<RowDataPacket[] | ResultSetHeader> {
  // mysql2 would send a number as DOUBLE and a bigint as text: neither is compared exactly or allowed for LIMIT.
  const values = bindings.map((binding) =>
    binding === null || typeof binding === 'string' ? binding : TypedParameter.BIGINT(binding),
  );
  return new Promise((resolve, reject) => {
    const settle = (error: Error | null, result: RowDataPacket[] | ResultSetHeader) =>
      error ? reject(error) : resolve(result);
    connection.execute<RowDataPacket[] | ResultSetHeader>({ sql, values }, (error, result) => {
      if (!NOT_PREPARED.includes(errorNumber(error))) return settle(error, result);
      // As text, with the values in it. mysql2's escaping is right for the sql_mode and character set of the session.
      connection.query<RowDataPacket[] | ResultSetHeader>({ sql, values: [...bindings] }, settle);
    });
  });
}

/**
 * How the ids of several rows are known: by RETURNING, or as a sequence by its step, auto_increment_increment. An INSERT of a known
 * number of rows has no gaps, https://dev.mysql.com/doc/refman/9.7/en/innodb-auto-increment-handling.html; Connector/J's
 * getGeneratedKeys relies on that, too. XtraDB Cluster changes the step when a node joins or leaves: there is no rule.
 */
const idRules = new WeakMap<Connection, 'returning' | bigint | undefined>();

/** Sets the id rule of a new session by its server's variables. */
export function noteIdRule(connection: Connection, variables: ReadonlyMap<string, string>): void {
  const step = /cluster/i.test(variables.get('version_comment') ?? '') ? '' : variables.get('auto_increment_increment');
  const isMariadb = /mariadb/i.test(variables.get('version') ?? '');
  idRules.set(connection, isMariadb ? 'returning' : step ? BigInt(step) : undefined);
}

/** Adds rows; gives their AUTO_INCREMENT ids in the order of the rows. Without an id rule, POOL_ONE_ROW refuses several rows. */
export async function insertRows(
  connection: Connection,
  into: string,
  rows: readonly (readonly Binding[])[],
): Promise<string[]> {
  const rule = idRules.get(connection);
  if (rule === undefined && rows.length > 1) throw poolError('POOL_ONE_ROW', 'only the id of a single row is known');
  const marks = `(${rows[0]?.map(() => '?').join(', ')})`;
  const sql = `INSERT INTO ${into} VALUES ${rows.map(() => marks).join(', ')}`;
  if (rule === 'returning') {
    // MariaDB returns the rows in the order of their insertion, https://mariadb.com/kb/en/insertreturning/
    const added = await readPrepared(connection, `${sql} RETURNING id`, rows.flat());
    return added.length === rows.length ? added.map(({ id }) => String(id)) : misunderstand();
  }
  const answer = await executePrepared(connection, sql, rows.flat());
  const first = BigInt(Array.isArray(answer) ? misunderstand() : answer.insertId);
  return rows.map((_, index) => String(first + BigInt(index) * (rule ?? 1n)));
}
