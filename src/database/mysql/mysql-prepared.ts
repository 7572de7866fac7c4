import mysql, { type Connection, type ResultSetHeader, type RowDataPacket } from 'mysql2';
import { errorNumber } from '../faults.ts';
import { poolError } from '../pool-error.ts';
import type { Binding } from '../prepared.ts';
import { ask, destroyConnection } from './mysql-connection.ts';

// Read once: mysql2 loads it anew at each access.
const { TypedParameter } = mysql;

/** The rows of a statement that the connection keeps prepared; rejects with the driver's error. */
export async function readPrepared(
  connection: Connection,
  sql: string,
  bindings: readonly Binding[],
): Promise<RowDataPacket[]> {
  const answer = await executePrepared(connection, sql, bindings);
  return Array.isArray(answer) ? answer : misunderstand(connection);
}

/** An answer that is none to what was asked may be another's: no further one of this connection is believed. */
function misunderstand(connection: Connection): never {
  const reason = poolError('POOL_NOT_UNDERSTOOD', 'the server gave an answer to something else');
  destroyConnection(connection, reason);
  throw reason;
}

/**
 * The server prepares nothing, or no more, and has done nothing: ER_UNSUPPORTED_PS of a proxy, ER_MAX_PREPARED_STMT_COUNT_REACHED,
 * ER_NEED_REPREPARE of a server whose table cache is too small.
 */
const NOT_PREPARED = [1295, 1461, 1615];

/**
 * Connections whose statements go as text, with their values in them. mysql2 escapes these as the session's sql_mode and
 * character set need it, which are known to be set.
 */
const unprepared = new WeakSet<Connection>();

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
    const tell = (error: Error | null, result: RowDataPacket[] | ResultSetHeader) =>
      error ? reject(error) : resolve(result);
    const sendText = () => connection.query<RowDataPacket[] | ResultSetHeader>({ sql, values: [...bindings] }, tell);
    if (unprepared.has(connection)) return void sendText();
    connection.execute<RowDataPacket[] | ResultSetHeader>({ sql, values }, (error, result) => {
      if (!NOT_PREPARED.includes(errorNumber(error))) return tell(error, result);
      unprepared.add(connection);
      sendText();
    });
  });
}

/** Adds rows, all or none; gives their AUTO_INCREMENT ids in the order of the rows. `beforeCommit` may refuse. */
export async function insertAllOrNone(
  connection: Connection,
  into: string,
  rows: readonly (readonly Binding[])[],
  beforeCommit: () => void,
): Promise<string[]> {
  const rule = idRules.get(connection) ?? 'one by one';
  const insert = () => insertRows(connection, into, rows);
  return rule === 'one by one' && rows.length > 1 ? inTransaction(connection, insert, beforeCommit) : insert();
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
  const rule = idRules.get(connection) ?? 'one by one';
  const marks = `(${rows[0]?.map(() => '?').join(', ')})`;
  const sql = `INSERT INTO ${into} VALUES ${rows.map(() => marks).join(', ')}`;
  if (rule === 'returned') {
    // MariaDB sends each row as it is written, https://mariadb.com/kb/en/insertreturning/
    const added = await readPrepared(connection, `${sql} RETURNING id`, rows.flat());
    if (added.length !== rows.length) misunderstand(connection);
    return added.map(({ id }) => String(id));
  }
  if (rule === 'one by one' && rows.length > 1) {
    const ids: string[] = [];
    for (const row of rows) ids.push(...(await insertRows(connection, into, [row])));
    return ids;
  }
  const answer = await executePrepared(connection, sql, rows.flat());
  const { insertId } = Array.isArray(answer) ? misunderstand(connection) : answer;
  const step = rule === 'one by one' ? 1n : rule;
  return rows.map((_, index) => String(BigInt(insertId) + BigInt(index) * step));
}

/**
 * How the ids of several rows are told: by RETURNING, or from the first one in steps. An INSERT of a known number of rows
 * has no gaps, https://dev.mysql.com/doc/refman/9.7/en/innodb-auto-increment-handling.html, which Connector/J's
 * getGeneratedKeys relies on, too; but XtraDB Cluster changes the step of a session whenever a node comes or goes.
 */
type IdRule = 'returned' | 'one by one' | bigint;

const idRules = new WeakMap<Connection, IdRule>();

/** Notes how a new session's ids are told, by what its server says of its variables. */
export function noteIdRule(connection: Connection, variables: ReadonlyMap<string, string>): void {
  const step = variables.get('auto_increment_increment');
  const isStable = step !== undefined && !/cluster/i.test(variables.get('version_comment') ?? '');
  const isMariadb = /mariadb/i.test(variables.get('version') ?? '');
  idRules.set(connection, isMariadb ? 'returned' : isStable ? BigInt(step) : 'one by one');
}
