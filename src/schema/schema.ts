import { printSchema } from 'graphql';
import { builder } from './builder.ts';
import './pet-type.ts';

builder.queryType({ description: 'Reading animals.' });
builder.mutationType({ description: 'Changing animals.' });

/** The one schema that both APIs serve. */
export const schema = builder.toSchema({ sortSchema: false });

/** The schema as text, as it stands in `schema.graphql`. */
export function printedSchema(): string {
  return `${printSchema(schema)}\n`;
}
