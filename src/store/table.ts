import type { Binding } from '../database/prepared.ts';
import type { Int64, Integer64 } from '../int64.ts';
import { type AnyKind, KINDS, type KindName, type ValueIn, type ValueOut } from '../kinds.ts';

/** A field of a thing: its kind, whether it may be absent, and whether lists can be filtered by it. */
export type Field = (
  | { readonly kind: Exclude<KindName, 'word'> }
  | { readonly kind: 'word'; readonly words: readonly string[] }
) & {
  readonly optional?: true;
  /**
   * There is an index on its column and the id, called `TABLE_COLUMN_id`. A text's column has a collation that does not pad,
   * such as utf8mb4_nopad_bin of MariaDB and utf8mb4_0900_bin of MySQL: for others 'a' and 'a ' are equal.
   */
  readonly filter?: true;
};

/** Fields by their names, in the order of their columns; a column has the field's name, in snake case. */
export type Fields = Readonly<Record<string, Field>>;

/** A table whose rows have an `id` that the database assigns, and these fields. */
export interface Table<F extends Fields = Fields> {
  readonly name: string;
  readonly fields: F;
  /**
   * How idempotency records know what was added: under this name (null: none), and so many of the first fields by their
   * place. By default under the table's name, and every field by its own.
   */
  readonly records?: { readonly name: string | null; readonly byPlace: number };
}

/** A table with its fields: types, columns, statements and the comparison of retries are made from this one list. */
export function defineTable<const F extends Fields>(name: string, fields: F, records?: Table['records']): Table<F> {
  return { name, fields, ...(records && { records }) };
}

type Value<F extends Field> = F extends { words: readonly (infer Word)[] } ? Word : ValueIn<F['kind']>;
type KeptValue<F extends Field> = F extends { words: readonly (infer Word)[] } ? Word : ValueOut<F['kind']>;
type Optional<F extends Fields> = { [Name in keyof F]: F[Name] extends { optional: true } ? Name : never }[keyof F];

/** A thing as it is added; what is optional may be absent or null, which is the same. */
export type New<T extends Table> =
  T extends Table<infer F>
    ? { readonly [Name in Exclude<keyof F, Optional<F>>]: Value<F[Name]> } & {
        readonly [Name in Optional<F>]?: Value<F[Name]> | null | undefined;
      }
    : never;

/** A thing as it is kept; 64-bit integers as the database gives them, what is absent is null. */
export type Kept<T extends Table> =
  T extends Table<infer F>
    ? { readonly id: Integer64 } & {
        readonly [Name in keyof F]: KeptValue<F[Name]> | (F[Name] extends { optional: true } ? null : never);
      }
    : never;

/** The names of the fields that lists can be filtered by. */
export type FilterName<T extends Table> =
  T extends Table<infer F> ? { [Name in keyof F]: F[Name] extends { filter: true } ? Name : never }[keyof F] : never;

/** Which page of a table is asked for; a filter that is absent or null lets all rows through. */
export type PageQuery<T extends Table> = {
  readonly limit: number;
  /** Only rows with a greater id. */
  readonly after: Int64 | null | undefined;
} & {
  readonly [Name in FilterName<T>]?: (Name extends keyof New<T> ? New<T>[Name] : never) | null | undefined;
};

/** The fields of a table in their order, as statements need them. `index`: that of a filter by this field. */
export function columnsOf({ name: table, fields }: Table) {
  return Object.entries(fields).map(([name, field]) => {
    const column = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const kind: AnyKind = KINDS[field.kind].within(field.kind === 'word' ? { enum: field.words } : {});
    return { name, column, kind, isOptional: field.optional === true, index: field.filter && `${table}_${column}_id` };
  });
}

/** The select list in the words of the thing: a row is one. */
export function selectList(table: Table): string {
  const columns = columnsOf(table).map(({ name, column }) => (column === name ? column : `${column} AS ${name}`));
  return ['id', ...columns].join(', ');
}

/** `table (column, ...)`: what INSERT writes into. */
export function insertList(table: Table): string {
  return `${table.name} (${columnsOf(table)
    .map(({ column }) => column)
    .join(', ')})`;
}

/** Gives the values of a thing in the order of `insertList`. */
export function rowWriter<T extends Table>(table: T): (added: New<T>) => Binding[] {
  const columns = columnsOf(table);
  return (added) => {
    const values = added as Readonly<Record<string, unknown>>; // of the columns' kinds, by its type
    return columns.map(({ name, kind }) => bindValue(kind, values[name]));
  };
}

/** What is bound for a value; null where there is none. */
export function bindValue(kind: AnyKind, value: unknown): Binding {
  return value === null || value === undefined ? null : kind.bind(value);
}

/** Gives what of an input belongs to the thing, in the order of its fields; what is absent is null. */
export function fieldPicker<T extends Table>(table: T): (input: New<T>) => Omit<Kept<T>, 'id'> {
  const names = Object.keys(table.fields);
  return (input) => {
    const given = input as Readonly<Record<string, unknown>>; // its fields by their names
    const whole: Record<string, unknown> = {};
    for (const name of names) whole[name] = given[name] ?? null;
    return whole as Omit<Kept<T>, 'id'>; // every field of it
  };
}

/**
 * Gives a thing as a list that is equal for equal things only. Fields stand by their names, and only when they are there:
 * a field that is added later leaves kept records valid.
 */
export function canonicalWriter<T extends Table>(table: T): (input: New<T>) => readonly unknown[] {
  const pick = fieldPicker(table);
  const byPlace = table.records?.byPlace ?? 0;
  return (input) => {
    const entries = Object.entries(pick(input));
    const placed = entries.slice(0, byPlace).map(([, value]) => value);
    return [...placed, ...entries.slice(byPlace).filter(([, value]) => value !== null)];
  };
}
