import mysql, { type ResultSetHeader, type RowDataPacket } from 'mysql2';
import { partsOf } from '../mysql-errors/mysql-errors.ts';
import type { MysqlConnection } from './mysql-connection.ts';

/** A value for a `?` of a prepared statement; a number is an integer. */
export type Value = string | number | bigint | null;

// Read once: it is a getter that loads its module at each access.
const { TypedParameter } = mysql;

/**
 * Errors after which the statement is sent as text. The server could not prepare it and did nothing: ER_UNSUPPORTED_PS (a proxy),
 * ER_MAX_PREPARED_STMT_COUNT_REACHED, ER_NEED_REPREPARE (the table cache is too small).
 */
const NOT_PREPARED = [1295, 1461, 1615];

/** A connection that runs prepared statements. */
export type Prepared = Pick<MysqlConnection, 'driver'>;
type Answer = RowDataPacket[] | ResultSetHeader;

/** The rows of a statement, prepared unless `asText`; rejects with the driver's error. */
export async function readPrepared(connection: Prepared, sql: string, bindings: readonly Value[], asText = false) {
  const answer = await executePrepared(connection, sql, bindings, asText);
  return Array.isArray(answer) ? answer : throwUnexpectedResult();
}

/** Throws: the result may belong to another command. The pool closes the connection after this error (`isUnderstood`). */
export function throwUnexpectedResult(): never {
  throw new Error('the server gave an answer to something else');
}

/** The answer to a statement, prepared unless `asText`; rejects with the driver's error. */
export function executePrepared(
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
