import type { Database } from '../database/connect.ts';
import type { Binding } from '../database/prepared.ts';
import type { Int64 } from '../int64.ts';
import type { NewPet, Pet, PetStatus } from './pet.ts';
import { type SharingLimits, sendTogether, shareReads } from './shared-reads.ts';

/** Which animals a list asks for. */
export interface PetsQuery {
  readonly limit: number;
  readonly status: PetStatus | null;
  /** Only animals with a greater id. */
  readonly after: Int64 | null;
}

/** One page of animals, by ascending id; who asks the same at the same time gets the same object. */
export interface PetsPage {
  readonly pets: readonly Pet[];
  /** Whether more animals follow the last one. */
  readonly hasMore: boolean;
}

/** The hot queries, prepared and shared. */
export interface PetQueries {
  list(query: PetsQuery): Promise<PetsPage>;
  get(id: Int64): Promise<Pet | null>;
  /** The id of an animal that it adds. */
  add(newPet: NewPet): Promise<Int64>;
}

// One connection does what SQLite does, one after the other: there is nothing to send together.
const ALONE: SharingLimits = { underWay: 1, batch: 1 };
const TOGETHER = {
  list: { underWay: 4, batch: 8 },
  get: { underWay: 2, batch: 32 },
  add: { underWay: 2, batch: 32 },
} as const satisfies Record<keyof PetQueries, SharingLimits>;

/** The hot queries of this database. */
export function createPetQueries(database: Database): PetQueries {
  const limitsOf = (query: keyof PetQueries) => (database.engine === 'mysql' ? TOGETHER[query] : ALONE);
  return {
    list: shareReads(
      ({ limit, status, after }) => `${limit} ${status} ${after}`,
      (queries) => listTogether(database, queries),
      limitsOf('list'),
    ),
    get: shareReads(
      (id) => id,
      (ids) => getTogether(database, ids),
      limitsOf('get'),
    ),
    add: sendTogether((newPets) => addTogether(database, newPets), limitsOf('add')),
  };
}

// In the words of Pet: a row is one.
const COLUMNS = 'id, name, category_id AS categoryId, status';

async function listTogether(database: Database, queries: readonly PetsQuery[]): Promise<PetsPage[]> {
  const [only] = queries;
  if (only !== undefined && queries.length === 1) {
    return [toPage(await database.query<Pet>(listSql(database, only), listBindings(only)), only)];
  }
  // Filtered ones first: with eight lists there are 44 texts to prepare, not 255 for each order.
  const parts = queries.map((query, list) => ({ query, list })).sort((a, b) => kindOf(a.query) - kindOf(b.query));
  const selects = parts.map(({ query }, part) => `(${listSql(database, query, `, ${part} AS part`)})`);
  const bindings = parts.flatMap(({ query }) => listBindings(query));
  const rows = await database.query<Pet & { part: number }>(selects.join(' UNION ALL '), bindings);
  const lists: Pet[][] = queries.map(() => []);
  for (const row of rows) lists[parts[row.part]?.list ?? -1]?.push(row);
  // A union promises no order, https://dev.mysql.com/doc/refman/9.7/en/union.html; they come sorted all the same.
  return queries.map((query, list) => toPage((lists[list] ?? []).sort(byId), query));
}

function kindOf({ status }: PetsQuery): number {
  return status === null ? 1 : 0;
}

function listSql({ engine }: Database, { status }: PetsQuery, more = ''): string {
  if (status === null) return `SELECT ${COLUMNS}${more} FROM pets WHERE id > ? ORDER BY id LIMIT ?`;
  // MariaDB walks all earlier animals of a status on a deep page unless the index is named.
  const hint = engine === 'mysql' ? ' FORCE INDEX (pets_status_id)' : '';
  return `SELECT ${COLUMNS}${more} FROM pets${hint} WHERE status = ? AND id > ? ORDER BY id LIMIT ?`;
}

/** Below every id: AUTO_INCREMENT begins at 1. */
const BEFORE_ALL = -(2n ** 63n);

function listBindings({ status, after, limit }: PetsQuery): Binding[] {
  // One more than asked for tells whether a next page exists, without counting.
  return [...(status === null ? [] : [status]), after === null ? BEFORE_ALL : BigInt(after), limit + 1];
}

async function getTogether(database: Database, ids: readonly Int64[]): Promise<(Pet | null)[]> {
  const marks = ids.map(() => '?').join(', ');
  const rows = await database.query<Pet>(`SELECT ${COLUMNS} FROM pets WHERE id IN (${marks})`, ids.map(BigInt));
  const pets = new Map(rows.map((pet) => [String(pet.id), pet]));
  return ids.map((id) => pets.get(id) ?? null);
}

function addTogether(database: Database, newPets: readonly NewPet[]): Promise<Int64[]> {
  const rows = newPets.map(({ name, categoryId, status }) => [name, BigInt(categoryId), status]);
  return database.insert('pets (name, category_id, status)', rows);
}

function byId(a: Pet, b: Pet): number {
  if (typeof a.id === 'number' && typeof b.id === 'number') return a.id - b.id;
  return BigInt(a.id) < BigInt(b.id) ? -1 : 1;
}

function toPage(rows: Pet[], { limit }: PetsQuery): PetsPage {
  const hasMore = rows.length > limit;
  if (hasMore) rows.pop();
  return { pets: rows, hasMore };
}
