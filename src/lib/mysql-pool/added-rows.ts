import type { RowDataPacket } from 'mysql2';
import { MysqlPoolError } from './pool-error.ts';
import {
  executePrepared,
  type Prepared,
  readPrepared,
  throwUnexpectedResult,
  type Value,
} from './prepared-statements.ts';

/*
 * Rows are added by one INSERT, and are acknowledged under ids that are known, as they were sent:
 *
 * | server | ids | the rows as they are kept |
 * | MariaDB | RETURNING | RETURNING |
 * | MySQL | the first one, and the step of the server | read back, by the ids |
 * | one whose step may change | of a single row, that one | read back, by its id |
 */

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

/** What a server tells of rows that it has added: their ids, in their order, and the rows that it keeps, or `readKept` asks for these. */
export type AddedRows = { readonly ids: string[]; readonly kept?: RowDataPacket[] };

/** Adds rows by one INSERT, prepared unless `asText`. The ids are of the column `id`. POOL_ONE_ROW for several rows without an id rule. */
export async function insertRows(
  { connection, idRule }: { readonly connection: Prepared; readonly idRule: IdRule },
  { table, columns }: Into,
  rows: Rows,
  asText = false,
): Promise<AddedRows> {
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

/** Whether rows have always been kept as they were sent, under the ids that the server told. */
export function createKeptRecord(onOtherIds: (() => void) | undefined) {
  // undefined before the first ones. A row that is sent alone may be kept where several have other ids.
  const always: { alone?: boolean; together?: boolean } = {};
  let hasIdRule = true; // of the server that was used last: without it, it is never asked to add several rows
  return {
    noteServer({ idRule }: { readonly idRule: IdRule }): void {
      hasIdRule = idRule !== undefined;
    },
    note(count: number, isKept: boolean): void {
      const how = count === 1 ? 'alone' : 'together';
      if (!isKept && how === 'together' && always.together !== false) onOtherIds?.();
      always[how] = isKept && always[how] !== false;
    },
    mayChange(count: number): boolean {
      return count === 1 ? always.alone === false : hasIdRule && always.together !== true;
    },
  };
}
