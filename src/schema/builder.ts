import SchemaBuilder from '@pothos/core';
import ValidationPlugin from '@pothos/plugin-validation';
import * as z from 'zod/mini';
import { type Int64, parseInt64 } from '../int64.ts';
import type { KINDS, KindName, ValueIn, ValueOut } from '../kinds.ts';
import type { Context } from './context.ts';

type ScalarOf<Name extends KindName> = Extract<(typeof KINDS)[Name]['scalar'], string>;

interface SchemaTypes {
  Context: Context;
  /** The scalars of the kinds. An ID as an input is a text; the rule `int64Id` makes it an Int64. */
  Scalars: {
    [Name in KindName as ScalarOf<Name>]: {
      Input: Name extends 'int64' ? string : ValueIn<Name>;
      Output: ValueOut<Name>;
    };
  };
  DefaultFieldNullability: false;
}

/** The type parameter of the builder and of its refs. */
export type BuilderTypes = PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>;

/** The Pothos builder that a resource defines its types with. */
export type Builder = PothosSchemaTypes.SchemaBuilder<BuilderTypes>;

/** Creates a builder without types. */
export function createBuilder(): Builder {
  return new SchemaBuilder<SchemaTypes>({ plugins: [ValidationPlugin], defaultFieldNullability: false });
}

/** The rule of every `ID` input: it must be a 64-bit integer in canonical decimal form. It gives an Int64. */
export const int64Id = z.custom<Int64, string>(
  (text) => typeof text === 'string' && parseInt64(text) !== undefined,
  'must be a decimal integer of 64 bits, without leading zeros',
);

/** The page size: minimum, maximum and default. */
export const LIST_LIMIT = { least: 1, most: 100, fallback: 20 } as const;

const { least, most, fallback } = LIST_LIMIT;
const limitRule = `must be an integer from ${least} to ${most}`;

/** An argument for the page size, such as `limit`. `things` names the objects in its description. */
export const pageSize = (t: PothosSchemaTypes.InputFieldBuilder<BuilderTypes, 'Arg'>, things: string) =>
  t
    .int({ required: true, defaultValue: fallback, description: `How many ${things} at most: ${least} to ${most}.` })
    // Not the option `validate`: Pothos would run its rules twice.
    .validate(z.int().check(z.gte(least, limitRule), z.lte(most, limitRule)));

/** The arguments `limit` and `after` of a list ordered by id. `things` names its objects in descriptions. */
export const pageArguments = (builder: Builder, things: string) =>
  builder.args((t) => ({
    limit: pageSize(t, things),
    after: t
      .id({
        description: `Only ${things} with a greater id: the last id of a page asks for the next one. Pages are no change feed: one with a smaller id may still appear.`,
      })
      .validate(int64Id),
  }));

/** For the `extensions` of a type: what messages about its number of objects call them; by default `TYPE objects`. */
export function countedAs(things: string): { readonly countedAs: string } {
  return { countedAs: things };
}

/** Wraps `define` so that it runs once for each builder, for a type that several resources use. */
export function oncePerSchema<Defined>(define: (builder: Builder) => Defined): (builder: Builder) => Defined {
  const cache = new WeakMap<Builder, Defined>();
  return (builder) => {
    const defined = cache.get(builder) ?? define(builder);
    cache.set(builder, defined);
    return defined;
  };
}

/** Defines an enum: its names are the words of store and REST in capitals. `descriptions` has one for each word, in order. */
export function wordEnum<Word extends string>(
  builder: Builder,
  name: string,
  description: string,
  descriptions: Readonly<Record<Word, string>>,
) {
  const words = Object.keys(descriptions) as Word[]; // the type has no other keys
  const values = words.map((word) => [word.toUpperCase(), { value: word, description: descriptions[word] }] as const);
  return builder.enumType(name, { description, values: Object.fromEntries(values) });
}
