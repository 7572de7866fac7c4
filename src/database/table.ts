import type { Int64, Integer64 } from '../int64.ts';
import type { Binding } from './prepared.ts';

/** One field of a thing that is kept: its column and what is bound for it. */
export interface Field<Value> {
  readonly column: string;
  readonly kind: [NonNullable<Value>] extends [Int64]
    ? 'int64'
    : [NonNullable<Value>] extends [number]
      ? 'int'
      : 'text';
  /** The index on this column and the id: lists can be filtered by the field. */
  readonly index?: string;
}

/** A field of whatever kind. */
export type AnyField = Field<string> | Field<number> | Field<Int64>;

/** A thing with all its fields; what was absent is null. */
export type Whole<New> = { readonly [Name in keyof New]-?: Exclude<New[Name], undefined> };

/** Fields of a thing as it is added, in the order of their columns; typed so that none can be forgotten. */
export type Fields<New> = { readonly [Name in keyof New]-?: Field<New[Name]> };

/** A table whose rows have an `id` that the database assigns, and these fields. */
export interface Table<New> {
  readonly name: string;
  readonly fields: Fields<New>;
}

/** The names of the fields that lists can be filtered by. */
export type FilterName<T extends { fields: object }> = {
  [Name in keyof T['fields']]: T['fields'][Name] extends { index: string } ? Name : never;
}[keyof T['fields']];

/** A row as it is kept: 64-bit integers as the database gives them. */
export type Kept<New> = { readonly id: Integer64 } & {
  readonly [Name in keyof New]-?: [NonNullable<New[Name]>] extends [Int64]
    ? Integer64 | Extract<New[Name], null>
    : Exclude<New[Name], undefined>;
};

/** The select list in the words of the thing: a row is one. */
export function selectList<New>({ fields }: Table<New>): string {
  const columns = fieldEntries<New>(fields).map(([name, { column }]) =>
    column === name ? column : `${column} AS ${name}`,
  );
  return ['id', ...columns].join(', ');
}

/** `table (column, ...)`: what INSERT writes into. */
export function insertList<New>({ name, fields }: Table<New>): string {
  return `${name} (${fieldEntries<New>(fields)
    .map(([, { column }]) => column)
    .join(', ')})`;
}

/** Gives the values of a thing in the order of `insertList`. */
export function rowWriter<New>({ fields }: Table<New>): (added: New) => Binding[] {
  const entries = fieldEntries<New>(fields);
  return (added) =>
    entries.map(([name, { kind }]) => {
      const value = (added[name] ?? null) as string | number | null; // Field's `kind` allows nothing else
      return value !== null && kind === 'int64' ? BigInt(value) : value;
    });
}

/** The fields with their names, in their order. */
export function fieldEntries<New>(fields: Fields<New>): [keyof New & string, AnyField][] {
  return Object.entries(fields) as [keyof New & string, AnyField][]; // the keys are New's, by its type
}

/** Gives what of an input belongs to the thing, in the order of its fields. */
export function fieldPicker<New>({ fields }: Table<New>): (input: New) => Whole<New> {
  const names = fieldEntries<New>(fields).map(([name]) => name);
  return (input) => {
    const whole: Record<string, unknown> = {};
    for (const name of names) whole[name] = input[name] ?? null;
    return whole as Whole<New>; // every field of it
  };
}
