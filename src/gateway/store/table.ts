import type { Int64, Integer64 } from '../../lib/exact-json/exact-json.ts';
import { type AnyKind, type Binding, type Into, KINDS, type KindName, type ValueIn, type ValueOut } from '../kinds.ts';

/** A field of a row. */
export type Field = (
  | { readonly kind: Exclude<KindName, 'text' | 'word'> }
  | {
      readonly kind: 'text';
      /** How many characters its column holds, if that is fewer than a body may have: such as 40 of a `varchar(40)`. */
      readonly maxLength?: number;
    }
  | { readonly kind: 'word'; readonly words: readonly string[] }
) & {
  /** Whether its value may be absent. */
  readonly optional?: true;
  /**
   * Whether lists can be filtered by it. The table needs the index `TABLE_COLUMN_id` on the column and the id. A text column must have
   * a NO PAD collation (MariaDB utf8mb4_nopad_bin, MySQL utf8mb4_0900_bin): under others 'a' and 'a ' are equal.
   */
  readonly filter?: true;
};

/** Fields by name, in the order of the columns. The name of a column is that of its field in snake case. */
export type Fields = Readonly<Record<string, Field>>;

/** A table whose rows have an `id` that the database assigns, and these fields. */
export interface Table<F extends Fields = Fields> {
  readonly name: string;
  readonly fields: F;
}

/** Defines a table. Its fields determine types, columns, statements and how retried inputs are compared. */
export function defineTable<const F extends Fields>(name: string, fields: F): Table<F> {
  return { name, fields };
}

type Value<F extends Field> = F extends { words: readonly (infer Word)[] } ? Word : ValueIn<F['kind']>;
type StoredValue<F extends Field> = F extends { words: readonly (infer Word)[] } ? Word : ValueOut<F['kind']>;
/** The names of the fields of type `Mark`, such as `{ optional: true }`. */
type Marked<F extends Fields, Mark> = { [Name in keyof F]: F[Name] extends Mark ? Name : never }[keyof F];
type Optional<F extends Fields> = Marked<F, { optional: true }>;

/** A row to add. Of an optional field, absent and null are the same. */
export type NewRow<T extends Table> =
  T extends Table<infer F>
    ? { readonly [Name in Exclude<keyof F, Optional<F>>]: Value<F[Name]> } & {
        readonly [Name in Optional<F>]?: Value<F[Name]> | null | undefined;
      }
    : never;

/** New values for some fields of a row. A value that is absent or null is not changed. */
export type Changes<T extends Table> =
  T extends Table<infer F> ? { readonly [Name in keyof F]?: Value<F[Name]> | null | undefined } : never;

/** A row as the database gives it. An absent value is null; a 64-bit integer is a number up to 2^53, else an Int64. */
export type StoredRow<T extends Table> =
  T extends Table<infer F>
    ? { readonly id: Integer64 } & {
        readonly [Name in keyof F]: StoredValue<F[Name]> | (F[Name] extends { optional: true } ? null : never);
      }
    : never;

/** A query for one page. A filter that is absent or null is not applied. */
export type PageQuery<T extends Table> = {
  readonly limit: number;
  /** Only rows with a greater id. */
  readonly after: Int64 | null | undefined;
} & (T extends Table<infer F>
  ? { readonly [Name in Marked<F, { filter: true }>]?: Value<F[Name]> | null | undefined }
  : never);

/** The columns of a table, in the order of its fields. `index` is the name of a filter's index; undefined without a filter. */
export function columnsOf({ name: table, fields }: Table) {
  return Object.entries(fields).map(([name, field]) => {
    const column = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const bounds =
      'words' in field ? { enum: field.words } : 'maxLength' in field ? { maxLength: field.maxLength } : {};
    const kind: AnyKind = KINDS[field.kind].within(bounds);
    return { name, column, kind, isOptional: field.optional === true, index: field.filter && `${table}_${column}_id` };
  });
}

/** The select list of a table, with `id`. Aliases give columns the names of their fields. */
export function selectList(table: Table): string {
  const columns = columnsOf(table).map(({ name, column }) => (column === name ? column : `${column} AS ${name}`));
  return ['id', ...columns].join(', ');
}

/** Where rows of a table are added. */
export function intoOf(table: Table): Into {
  return { table: table.name, columns: columnsOf(table).map(({ column }) => column) };
}

/** Creates a function that gives the bindings of a row in the order of `intoOf`. */
export function createRowBinder<T extends Table>(table: T): (added: NewRow<T>) => Binding[] {
  const columns = columnsOf(table);
  return (added) => {
    const values = valuesOf(added);
    return columns.map(({ name, kind }) => bindValue(kind, values[name]));
  };
}

/** The values of a row, of changes or of filters, by the names of their fields. */
export function valuesOf(given: object): Readonly<Record<string, unknown>> {
  return given as Readonly<Record<string, unknown>>; // the types of all three have the names of a table's fields
}

/** The binding of a value; null for an absent value. */
export function bindValue(kind: AnyKind, value: unknown): Binding {
  return value === null || value === undefined ? null : kind.bind(value);
}

/** Creates a function that gives equal lists for equal inputs only. It omits absent fields, so a new field changes no earlier list. */
export function createCanonicalizer<T extends Table>(table: T): (input: NewRow<T>) => readonly unknown[] {
  const names = Object.keys(table.fields).sort(); // whatever their order in the table
  return (input) => {
    const given = valuesOf(input);
    return names.flatMap((name) => (given[name] == null ? [] : [[name, given[name]]]));
  };
}
