import mysql, { type ResultSetHeader, type RowDataPacket } from 'mysql2';
import { partsOf } from '../mysql-errors/mysql-errors.ts';
import type { MysqlConnection } from './mysql-connection.ts';
import { MysqlPoolError } from './pool-error.ts';

/** A value for a `?` of a prepared statement; a number is an integer. */
export type Value = string | number | bigint | null;

// Read once: it is a getter that loads its module at each access.
const { TypedParameter } = mysql;

/**
 * Errors after which the statement is sent as text. The server could not prepare it and did nothing: ER_UNSUPPORTED_PS (a proxy),
 * ER_MAX_PREPARED_STMT_COUNT_REACHED, ER_NEED_REPREPARE (the table cache is too small).
 */
const NOT_PREPARED = [1295, 1461, 1615];

type Prepared = Pick<MysqlConnection, 'driver'>;
type Answer = RowDataPacket[] | ResultSetHeader;

/** The rows of a statement, prepared unless `asText`; rejects with the driver's error. */
export async function readPrepared(connection: Prepared, sql: string, bindings: readonly Value[], asText = false) {
  const answer = await executePrepared(connection, sql, bindings, asText);
  return Array.isArray(answer) ? answer : throwUnexpectedResult();
}

/** The result may belong to another command. The pool closes the connection after this error (`isUnderstood`). */
function throwUnexpectedResult(): never {
  throw new Error('the server gave an answer to something else');
}

function executePrepared(
  { driver }: Prepared,
  sql: string,
  bindings: readonly Value[],
  asText: boolean,
): Promise<Answer> {
  // mysql2 would send a number as DOUBLE and a bigint as text: neither is compared exactly or allowed for LIMIT.
  const values = bindings.map((binding) =>
    binding === null || typeof binding === 'string' ? binding : TypedParameter.BIGINT(binding),
  );
  return new Promise((resolve, reject) => {
    const settle = (error: Error | null, result: Answer) => (error ? reject(error) : resolve(result));
    // With the values in it. mysql2's escaping is right for the sql_mode and character set of the session.
    const sendText = () => driver.query<Answer>({ sql, values: [...bindings] }, settle);
    if (asText) return void sendText();
    driver.execute<Answer>({ sql, values }, (error, result) => {
      if (NOT_PREPARED.includes(partsOf(error).errno ?? 0)) sendText();
      else settle(error, result);
    });
  });
}

/** How the ids of a multi-row INSERT are known: by RETURNING, as a sequence with this step, or (undefined) not at all. */
export type IdRule = 'returning' | bigint | undefined;

/**
 * The id rule of a server with these variables. The ids of an INSERT of a known number of rows have no gaps,
 * https://dev.mysql.com/doc/refman/9.7/en/innodb-auto-increment-handling.html; Connector/J's getGeneratedKeys relies on that, too.
 * XtraDB Cluster has no rule, because it changes the step when a node joins or leaves.
 */
export function idRuleOf(variables: ReadonlyMap<string, string>): IdRule {
  if (/mariadb/i.test(variables.get('version') ?? '')) return 'returning';
  const step = variables.get('auto_increment_increment');
  return step === undefined || /cluster/i.test(variables.get('version_comment') ?? '') ? undefined : BigInt(step);
}

/**
 * Adds rows by one INSERT, prepared unless `asText`; gives their ids, of the column `id`, in the order of the rows: those of several
 * rows without RETURNING are to be confirmed by `haveIds`. Throws POOL_ONE_ROW for several rows without an id rule.
 */
export async function insertRows(
  { connection, idRule }: { readonly connection: Prepared; readonly idRule: IdRule },
  into: string,
  rows: readonly (readonly Value[])[],
  asText = false,
): Promise<string[]> {
  if (idRule === undefined && rows.length > 1)
    throw new MysqlPoolError('POOL_ONE_ROW', 'only the id of a single row is known');
  const marks = `(${rows[0]?.map(() => '?').join(', ')})`;
  const sql = `INSERT INTO ${into} VALUES ${rows.map(() => marks).join(', ')}`;
  if (idRule === 'returning') {
    // MariaDB returns the rows in the order of their insertion, https://mariadb.com/kb/en/insertreturning/
    const added = await readPrepared(connection, `${sql} RETURNING id`, rows.flat(), asText);
    return added.length === rows.length ? added.map(({ id }) => String(id)) : throwUnexpectedResult();
  }
  const answer = await executePrepared(connection, sql, rows.flat(), asText);
  const first = BigInt(Array.isArray(answer) ? throwUnexpectedResult() : answer.insertId);
  if (first === 0n) throw new MysqlPoolError('POOL_NOT_UNDERSTOOD', 'the server did not tell the id of a row');
  return rows.map((_, index) => String(first + BigInt(index) * (idRule ?? 1n)));
}

/**
 * Whether these rows, which `insertRows` has just added, have these ids. When a trigger gave some, the server told the first id that it
 * made itself, which LAST_INSERT_ID() is; when it made none, the id of the last row.
 */
export async function haveIds(
  { connection }: { readonly connection: Prepared },
  into: string,
  rows: readonly (readonly Value[])[],
  ids: readonly string[],
  asText = false,
): Promise<boolean> {
  const [, table, columns] = /^(\S+) \((.+)\)$/.exec(into) ?? [];
  const sql = `SELECT LAST_INSERT_ID(), id, ${columns} FROM ${table} WHERE id BETWEEN ? AND ?`;
  const ends = [ids[0], ids.at(-1)].map((id = '') => BigInt.asIntN(64, BigInt(id)));
  const found = await readPrepared(connection, sql, ends, asText);
  const textOf = (values: readonly unknown[]) =>
    JSON.stringify(values.map((one) => (one === null ? one : String(one))));
  const stored = new Set(found.map((row) => textOf(Object.values(row))));
  return rows.every((row, index) => stored.has(textOf([ids[0], ids[index], ...row])));
}
