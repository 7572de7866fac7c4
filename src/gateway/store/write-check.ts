import { randomBytes, randomInt } from 'node:crypto';
import type { Knex } from 'knex';
import type { Deadline } from '../../lib/deadline/deadline.ts';
import { type Int64, toInt64 } from '../../lib/exact-json/exact-json.ts';
import { type Database, insertWithin } from '../database/connect.ts';
import { isRefused } from '../database/faults.ts';
import { engineProblems } from '../database/schema-check.ts';
import { DatabaseFault } from '../errors.ts';
import type { AnyKind, Binding, Into, RowValues } from '../kinds.ts';
import { columnsOf, intoOf, selectList, type Table } from './table.ts';

/** The tables of the gateway itself. */
const OWN_TABLES = ['api_keys', 'idempotency_keys', 'deprecated_use'] as const;

interface WriteCheckOptions {
  readonly deadline?: Deadline;
  readonly ids?: 'of the server' | 'of ours';
  readonly ownTables?: boolean;
}

/**
 * Adds rows to each table as creates do, and rolls all back: an operator may have changed a column, an index or a trigger. The rows have
 * values that are hard to keep (`probes` of a kind), each twice, so that a unique index is met. A server may use up their ids, unless
 * `ids` says that the rows have negative ones of ours: then they are read back, and it gives which column does not keep its values, in
 * words, or undefined. `ownTables` has it try the tables of the gateway itself, too. Rejects as a create would, with an error that
 * `isRefused` tells when only some values are refused; with DatabaseFault `unusable`, and tries nothing, when a table has no
 * transactions.
 */
export async function checkWrites(
  database: Database,
  tables: readonly Table[],
  { deadline, ids = 'of the server', ownTables = false }: WriteCheckOptions = {},
): Promise<string | undefined> {
  const names = [...tables.map(({ name }) => name), ...(ownTables ? OWN_TABLES : [])];
  const [lasting] = await engineProblems(database, names, deadline);
  if (lasting !== undefined)
    throw new DatabaseFault('unusable', new Error(`a row that is only tried would stay: ${lasting}`));
  const writeAndRead = async (knex: Knex) => {
    const transaction = await knex.transaction();
    if (transaction.isCompleted()) await transaction.executionPromise; // rejects: Knex gives one whose BEGIN failed, too
    try {
      for (const table of tables) {
        const problem = await checkTable(transaction, table, ids === 'of ours');
        if (problem !== undefined) return problem;
      }
      if (ownTables) await tryOwnTables(transaction);
      return undefined;
    } finally {
      await transaction.rollback();
    }
  };
  return database.run(writeAndRead, { deadline });
}

async function checkTable(
  transaction: Knex.Transaction,
  table: Table,
  hasOwnIds: boolean,
): Promise<string | undefined> {
  const insert = hasOwnIds ? insertWithOwnIds : insertWithin;
  const { ids, taken, refusal } = await addProbes(transaction, table, insert);
  if (hasOwnIds) {
    const stored = await transaction(table.name)
      .select(transaction.raw(selectList(table)))
      .whereIn('id', ids);
    const byId = new Map(stored.map((row) => [String(row.id), row]));
    for (const [index, row] of taken.entries()) {
      const kept = byId.get(String(ids[index]));
      const changed =
        kept && columnsOf(table).find(({ name, kind }, place) => !isKept(kind, row[place] ?? null, kept[name])); // a trigger may give another id
      if (changed) return `${table.name}.${changed.column} does not keep what is stored, by its type or by a trigger`;
    }
  }
  if (refusal !== undefined) throw refusal;
  return undefined;
}

function isKept(kind: AnyKind, was: Binding, is: unknown): boolean {
  if (was === null || is === null) return was === is;
  const written = kind.write(typeof was === 'bigint' ? String(was) : was);
  try {
    return kind.write(is) === written;
  } catch {
    return false; // what the driver gives of a column of another type
  }
}

/** Adds the probes together. When that is refused, adds each alone; gives those that are taken, with the last refusal. */
async function addProbes(transaction: Knex.Transaction, table: Table, insert: typeof insertWithin) {
  const [into, rows] = [intoOf(table), probesOf(table)];
  const add = (some: readonly RowValues[]): Promise<Int64[] | { readonly refusal: unknown }> =>
    insert(transaction, into, some).catch((error) => (isRefused(error) ? { refusal: error } : Promise.reject(error)));
  const together = await add(rows);
  if (Array.isArray(together)) return { ids: together, taken: rows };
  // Not a refusal yet: of some servers, and with some triggers, only the id of a single row is known (`POOL_ONE_ROW`).
  const [ids, taken]: [Int64[], RowValues[]] = [[], []];
  let refusal: unknown;
  for (const row of rows) {
    const alone = await add([row]);
    if (Array.isArray(alone)) {
      ids.push(...alone);
      taken.push(row);
    } else refusal = alone.refusal;
  }
  return { ids, taken, refusal };
}

/** Adds a row to each table of the gateway itself, changes it and removes it: an account may have the rights of some tables only. */
async function tryOwnTables(transaction: Knex.Transaction): Promise<void> {
  const [id, text] = [-randomInt(2 ** 48 - 1) - 1, randomBytes(32).toString('hex')]; // nobody else has these now
  const tries = {
    api_keys: { row: { id, name: '', prefix: '', hash: text, created_at: 0 }, change: { last_used_at: 0 } },
    idempotency_keys: {
      row: { id: text, input_hash: text, result_id: 1, created_at: 0 },
      change: { result_id: 2 },
    },
    deprecated_use: {
      row: { api_key_id: id, operation: '', day: 0, uses: 1, last_seen_at: 0 },
      change: { uses: 2 },
    },
  };
  for (const name of OWN_TABLES) {
    const { row, change } = tries[name];
    const [[column, value] = ['', null]] = Object.entries(row); // its key
    await transaction(name).insert(row);
    await transaction(name).where(column, value).update(change);
    await transaction(name).where(column, value).delete();
  }
}

/** As `insertWithin`, with negative ids, which use up none of the server's. They are random, because others may start now, too. */
async function insertWithOwnIds(transaction: Knex.Transaction, { table, columns }: Into, rows: readonly RowValues[]) {
  const ids = rows.map(() => toInt64(-randomInt(2 ** 48 - 1) - 1));
  const marks = rows.map((row) => `(${['?', ...row.map(() => '?')].join(', ')})`).join(', ');
  const bindings = rows.flatMap((row, index) => [BigInt(ids[index] ?? 0), ...row]);
  // Both drivers bind a bigint, which Knex's types lack.
  await transaction.raw(`INSERT INTO ${table} (id, ${columns}) VALUES ${marks}`, bindings as Knex.RawBinding[]);
  return ids;
}

/** The bindings of the rows: one more than a field has probes, so that each value comes twice. */
function probesOf(table: Table): RowValues[] {
  const values = columnsOf(table).map(({ kind, isOptional }) => {
    const probes = kind.probes.map((probe) => kind.bind(probe));
    return isOptional ? [null, ...probes] : probes;
  });
  const length = Math.max(1, ...values.map((probes) => probes.length)) + 1;
  return Array.from({ length }, (_, index) => values.map((probes) => probes[index % probes.length] ?? null));
}
