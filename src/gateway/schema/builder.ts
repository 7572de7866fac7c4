import SchemaBuilder from '@pothos/core';
import ValidationPlugin from '@pothos/plugin-validation';
import * as z from 'zod/mini';
import { type Int64, parseInt64 } from '../../lib/exact-json/exact-json.ts';
import type { Arguments } from '../../lib/graphql-plan/graphql-plan.ts';
import type { KINDS, KindName, ValueIn, ValueOut } from '../kinds.ts';
import type { Context } from './context.ts';
import { FIELD_CHECKS } from './field-checks.ts';

type ScalarOf<Name extends KindName> = Extract<(typeof KINDS)[Name]['scalar'], string>;

interface SchemaTypes {
  Context: Context;
  /** The scalars of the kinds. An ID input is a plain string until the rule `int64Id` has made it an Int64. */
  Scalars: {
    [Name in KindName as ScalarOf<Name>]: {
      Input: Name extends 'int64' ? string : ValueIn<Name>;
      Output: ValueOut<Name>;
    };
  };
  DefaultFieldNullability: false;
}

/** The type parameter of Pothos for this schema, as in `ObjectRef<BuilderTypes, Row>`. */
export type BuilderTypes = PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>;

/** The Pothos builder that a resource defines its types with. */
export type Builder = PothosSchemaTypes.SchemaBuilder<BuilderTypes>;

/** Creates a builder without types. */
export function createBuilder(): Builder {
  return new SchemaBuilder<SchemaTypes>({
    plugins: [FIELD_CHECKS, ValidationPlugin], // the last one comes first
    defaultFieldNullability: false,
  });
}

/** The rule of every `ID` input: a 64-bit integer in canonical decimal form. The validated value is an Int64. */
export const int64Id = z.custom<Int64, string>(
  (text) => typeof text === 'string' && parseInt64(text) !== undefined,
  'must be a decimal integer of 64 bits, without leading zeros',
);

/** The bounds and the default of a page size, in objects. */
export const LIST_LIMIT = { min: 1, max: 100, defaultValue: 20 } as const;

const { min, max, defaultValue } = LIST_LIMIT;
const pageSizeMessage = `must be an integer from ${min} to ${max}`;

/** The page size in the arguments of a field; undefined for a field without one. */
export function pageSizeOf({ limit, first = limit }: Arguments): number | undefined {
  return typeof first === 'number' ? Math.max(0, first) : undefined;
}

/** An argument for the page size, such as `limit`. `plural` is the noun for the objects in its description. */
export const pageSizeArgument = (t: PothosSchemaTypes.InputFieldBuilder<BuilderTypes, 'Arg'>, plural: string) =>
  t
    .int({ required: true, defaultValue, description: `How many ${plural} at most: ${min} to ${max}.` })
    // Not the option `validate`: Pothos would run its rules twice.
    .validate(z.int().check(z.gte(min, pageSizeMessage), z.lte(max, pageSizeMessage)));

/** The arguments `limit` and `after` of a list by ascending id. `plural` is the noun for its objects in descriptions. */
export const pageArguments = (builder: Builder, plural: string) =>
  builder.args((t) => ({
    limit: pageSizeArgument(t, plural),
    after: t
      .id({
        description: `Only ${plural} with a greater id: the last id of a page asks for the next one. Pages are no change feed: one with a smaller id may still appear.`,
      })
      .validate(int64Id),
  }));

/** Extensions of an object type: the plural noun for messages about cost limits. Without it they say `TYPE objects`. */
export function countedAs(plural: string): { readonly countedAs: string } {
  return { countedAs: plural };
}

/** Caches the result of `define` for each builder: several resources may use the type, and Pothos defines a name only once. */
export function oncePerSchema<Defined>(define: (builder: Builder) => Defined): (builder: Builder) => Defined {
  const cache = new WeakMap<Builder, Defined>();
  return (builder) => {
    const defined = cache.get(builder) ?? define(builder);
    cache.set(builder, defined);
    return defined;
  };
}

/** Defines an enum. Its values are the words of store and REST, its names the same words in capitals. */
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
