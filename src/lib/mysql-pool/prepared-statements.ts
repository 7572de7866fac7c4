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

/** Where an INSERT adds rows. */
export type Into = { readonly table: string; readonly columns: readonly string[] };
/** Rows to add, each in the order of the columns. */
export type Rows = readonly (readonly Value[])[];

/**
 * Adds rows by one INSERT, prepared unless `asText`; gives the ids that the server tells, of the column `id`, in the order of the rows,
 * and the rows that it keeps, if it tells them, too: else `readKept` asks for them. Throws POOL_ONE_ROW for several rows without an id rule.
 */
export async function insertRows(
  { connection, idRule }: { readonly connection: Prepared; readonly idRule: IdRule },
  { table, columns }: Into,
  rows: Rows,
  asText = false,
): Promise<{ ids: string[]; kept?: RowDataPacket[] }> {
  if (idRule === undefined && rows.length > 1)
    throw new MysqlPoolError('POOL_ONE_ROW', 'only the id of a single row is known');
  const marks = `(${columns.map(() => '?')})`;
  const sql = `INSERT INTO ${table} (${columns}) VALUES ${rows.map(() => marks)}`;
  if (idRule === 'returning') {
    // MariaDB returns the rows in the order of their insertion, https://mariadb.com/kb/en/insertreturning/
    const kept = await readPrepared(connection, `${sql} RETURNING id, ${columns}`, rows.flat(), asText);
    return kept.length === rows.length ? { ids: kept.map(({ id }) => String(id)), kept } : throwUnexpectedResult();
  }
  const answer = await executePrepared(connection, sql, rows.flat(), asText);
  // An id below zero is told without its sign.
  const first = BigInt.asIntN(64, BigInt(Array.isArray(answer) ? throwUnexpectedResult() : answer.insertId));
  if (first === 0n) throw new MysqlPoolError('POOL_NOT_UNDERSTOOD', 'the server did not tell the id of a row');
  return { ids: rows.map((_, index) => String(first + BigInt(index) * (idRule ?? 1n))) };
}

/** Reads the rows that `insertRows` has just added, by the ids that were told. */
export function readKept(
  { connection }: { readonly connection: Prepared },
  { table, columns }: Into,
  ids: readonly string[],
  asText = false,
): Promise<RowDataPacket[]> {
  const sql = `SELECT LAST_INSERT_ID() AS made, id, ${columns} FROM ${table} WHERE id BETWEEN ? AND ?`;
  return readPrepared(connection, sql, [ids[0] ?? '', ids.at(-1) ?? ''].map(BigInt), asText);
}

/**
 * Whether rows are kept under these ids as they were sent: a column of another type or a trigger may change them. Of several rows of
 * which a trigger gave some ids, the server told the first one that it made itself, which `made` is; when it made none, that of the last row.
 */
export function areKept(into: Into, rows: Rows, ids: readonly string[], kept: readonly RowDataPacket[]): boolean {
  const byId = new Map(kept.map((row) => [String(row.id), row]));
  return rows.every((row, index) => {
    const stored = byId.get(ids[index] ?? '');
    if (rows.length > 1 && stored?.made !== undefined && String(stored.made) !== ids[0]) return false;
    return stored !== undefined && into.columns.every((name, place) => isSame(row[place], stored[name]));
  });
}

function isSame(sent: Value | undefined, kept: unknown): boolean {
  return typeof sent === 'string' || sent === null ? kept === sent : String(kept) === String(sent);
}
