import SchemaBuilder from '@pothos/core';
import ValidationPlugin from '@pothos/plugin-validation';
import type { Context } from './context.ts';

interface SchemaTypes {
  Context: Context;
  Scalars: { ID: { Input: string; Output: string | number } };
  DefaultFieldNullability: false;
}

/** The Pothos builder; the types are defined beside it, one file for each. */
export const builder = new SchemaBuilder<SchemaTypes>({
  plugins: [ValidationPlugin],
  defaultFieldNullability: false,
});
