import SchemaBuilder from '@pothos/core';
import ValidationPlugin from '@pothos/plugin-validation';
import type { KINDS, KindName, ValueIn, ValueOut } from '../kinds.ts';
import type { Context } from './context.ts';

type ScalarOf<Name extends KindName> = Extract<(typeof KINDS)[Name]['scalar'], string>;

/** The scalars that the kinds are. An ID that comes in is a text, until `int64Id` has looked at it. */
type Scalars = {
  [Name in KindName as ScalarOf<Name>]: {
    Input: Name extends 'int64' ? string : ValueIn<Name>;
    Output: ValueOut<Name>;
  };
};

interface SchemaTypes {
  Context: Context;
  Scalars: Scalars;
  DefaultFieldNullability: false;
}

/** The Pothos builder that a resource defines its types with. */
export type Builder = PothosSchemaTypes.SchemaBuilder<PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>>;

/** A builder without any type. */
export function createBuilder(): Builder {
  return new SchemaBuilder<SchemaTypes>({ plugins: [ValidationPlugin], defaultFieldNullability: false });
}
