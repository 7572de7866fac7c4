import mysql, { type Connection, type ResultSetHeader, type RowDataPacket } from 'mysql2';
import type { Binding } from '../../kinds.ts';
import { errorNumber, poolError } from '../faults.ts';
import { ask, destroyConnection } from './mysql-connection.ts';

// Read once: mysql2 loads it anew at each access.
const { TypedParameter } = mysql;

/**
 * The server prepares nothing, or no more, and has done nothing: ER_UNSUPPORTED_PS of a proxy, ER_MAX_PREPARED_STMT_COUNT_REACHED,
 * ER_NEED_REPREPARE of a server whose table cache is too small.
 */
const NOT_PREPARED = [1295, 1461, 1615];

/** The rows of a statement that the connection has prepared; rejects with the driver's error. */
export async function readPrepared(
  connection: Connection,
  sql: string,
  bindings: readonly Binding[],
): Promise<RowDataPacket[]> {
  const answer = await executePrepared(connection, sql, bindings);
  return Array.isArray(answer) ? answer : misunderstand();
}

/** The pool ends the connection of such an answer: it may be that to another question. */
function misunderstand(): never {
  throw new Error('the server gave an answer to something else');
}

function executePrepared(
  connection: Connection,
  sql: string,
  bindings: readonly Binding[],
): Promise<RowDataPacket[] | ResultSetHeader> {
  // As mysql2 guesses, a number would be DOUBLE and a bigint text: neither is compared exactly, nor taken for LIMIT.
  const values = bindings.map((binding) =>
    binding === null || typeof binding === 'string' ? binding : TypedParameter.BIGINT(binding),
  );
  return new Promise((resolve, reject) => {
    const settle = (error: Error | null, result: RowDataPacket[] | ResultSetHeader) =>
      error ? reject(error) : resolve(result);
    connection.execute<RowDataPacket[] | ResultSetHeader>({ sql, values }, (error, result) => {
      if (!NOT_PREPARED.includes(errorNumber(error))) return settle(error, result);
      // As text, with the values in it. mysql2 escapes them as the session's sql_mode and character set need it, which are set.
      connection.query<RowDataPacket[] | ResultSetHeader>({ sql, values: [...bindings] }, settle);
    });
  });
}

/**
 * How the ids of several rows are known: by RETURNING, or from the first one in steps. An INSERT of a known number of rows has no
 * gaps, https://dev.mysql.com/doc/refman/9.7/en/innodb-auto-increment-handling.html; Connector/J's getGeneratedKeys relies on
 * that, too. XtraDB Cluster changes the step whenever a node comes or goes: there is no rule, and each row has its own statement.
 */
const idRules = new WeakMap<Connection, 'returning' | bigint>();

/** Notes how the ids of a new session are known, by what its server says of its variables. */
export function noteIdRule(connection: Connection, variables: ReadonlyMap<string, string>): void {
  const step = variables.get('auto_increment_increment');
  if (/mariadb/i.test(variables.get('version') ?? '')) idRules.set(connection, 'returning');
  else if (step && !/cluster/i.test(variables.get('version_comment') ?? '')) idRules.set(connection, BigInt(step));
}

/** Adds rows, all or none; gives their AUTO_INCREMENT ids in the order of the rows. `beforeCommit` may refuse. */
export async function insertAllOrNone(
  connection: Connection,
  into: string,
  rows: readonly (readonly Binding[])[],
  beforeCommit: () => void,
): Promise<string[]> {
  const insert = () => insertRows(connection, into, rows);
  return rows.length === 1 || idRules.has(connection) ? insert() : inTransaction(connection, insert, beforeCommit);
}

/** Work that is done whole or not at all; what fails ends the connection, and with it the transaction. */
export async function inTransaction<Result>(
  connection: Connection,
  work: () => Promise<Result>,
  beforeCommit: () => void,
): Promise<Result> {
  await ask(connection, 'START TRANSACTION');
  try {
    const result = await work();
    beforeCommit();
    await ask(connection, 'COMMIT');
    return result;
  } catch (error) {
    destroyConnection(connection, notCommitted());
    throw error;
  }
}

/** Why a connection ends whose transaction may still be open. An error of its own: mysql2 marks it as fatal. */
export function notCommitted(): Error {
  return poolError('POOL_NOT_COMMITTED', 'a transaction was not committed, and ends with its connection');
}

/** Adds rows as a part of a transaction; gives their AUTO_INCREMENT ids in the order of the rows. */
export async function insertRows(
  connection: Connection,
  into: string,
  rows: readonly (readonly Binding[])[],
): Promise<string[]> {
  const rule = idRules.get(connection);
  const marks = `(${rows[0]?.map(() => '?').join(', ')})`;
  const sql = `INSERT INTO ${into} VALUES ${rows.map(() => marks).join(', ')}`;
  if (rule === 'returning') {
    // MariaDB sends each row as it is written, https://mariadb.com/kb/en/insertreturning/
    const added = await readPrepared(connection, `${sql} RETURNING id`, rows.flat());
    return added.length === rows.length ? added.map(({ id }) => String(id)) : misunderstand();
  }
  if (rule === undefined && rows.length > 1) {
    const ids: string[] = [];
    for (const row of rows) ids.push(...(await insertRows(connection, into, [row])));
    return ids;
  }
  const answer = await executePrepared(connection, sql, rows.flat());
  const first = BigInt(Array.isArray(answer) ? misunderstand() : answer.insertId);
  return rows.map((_, index) => String(first + BigInt(index) * (rule ?? 1n)));
}
