import SchemaBuilder from '@pothos/core';
import ValidationPlugin from '@pothos/plugin-validation';
import * as z from 'zod/mini';
import { type Int64, parseInt64 } from '../int64.ts';
import type { KINDS, KindName, ValueIn, ValueOut } from '../kinds.ts';
import type { Context } from './context.ts';

type ScalarOf<Name extends KindName> = Extract<(typeof KINDS)[Name]['scalar'], string>;

interface SchemaTypes {
  Context: Context;
  /** The scalars of the kinds. An ID that comes in is a text until `int64Id` has checked it. */
  Scalars: {
    [Name in KindName as ScalarOf<Name>]: {
      Input: Name extends 'int64' ? string : ValueIn<Name>;
      Output: ValueOut<Name>;
    };
  };
  DefaultFieldNullability: false;
}

/** The Pothos builder that a resource defines its types with. */
export type Builder = PothosSchemaTypes.SchemaBuilder<PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>>;

/** A builder without any type. */
export function createBuilder(): Builder {
  return new SchemaBuilder<SchemaTypes>({ plugins: [ValidationPlugin], defaultFieldNullability: false });
}

/** The rule for every `ID` that comes in: it must be a 64-bit integer. What passes is an Int64. */
export const int64Id = z.custom<Int64, string>(
  (text) => typeof text === 'string' && parseInt64(text) !== undefined,
  'must be a decimal integer of 64 bits, without leading zeros',
);

/** How many things one list may have. */
export const LIST_LIMIT = { least: 1, most: 100, fallback: 20 } as const;

const { least, most, fallback } = LIST_LIMIT;
const limitRule = `must be an integer from ${least} to ${most}`;
const limit = z.int().check(z.gte(least, limitRule), z.lte(most, limitRule));

/** The arguments of a list ordered by id: at most `limit` of the `things` (a word of descriptions) after an id. */
export const pageArguments = (builder: Builder, things: string) =>
  builder.args((t) => ({
    // `.validate()` and not the option `validate`: Pothos checks that option twice.
    limit: t
      .int({
        required: true,
        defaultValue: fallback,
        description: `How many ${things} at most: ${least} to ${most}.`,
      })
      .validate(limit),
    after: t
      .id({
        description: `Only ${things} with a greater id: the last id of a page asks for the next one. Pages are no change feed: one with a smaller id may still appear.`,
      })
      .validate(int64Id),
  }));

/** The word by which messages count the objects of a type, for the type's `extensions`; without it, `TYPE objects`. */
export function countedAs(things: string): { readonly countedAs: string } {
  return { countedAs: things };
}

/** Makes a function that defines a type once with each builder, for a type that several resources use. */
export function oncePerSchema<Defined>(define: (builder: Builder) => Defined): (builder: Builder) => Defined {
  const known = new WeakMap<Builder, Defined>();
  return (builder) => {
    const defined = known.get(builder) ?? define(builder);
    known.set(builder, defined);
    return defined;
  };
}

/** An enum of the words of store and REST, in capitals. `descriptions` has one for each word, in the order of the enum. */
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
