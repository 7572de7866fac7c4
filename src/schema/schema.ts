import { type GraphQLField, type GraphQLObjectType, type GraphQLSchema, printSchema } from 'graphql';
import { type Deprecation, longDay } from '../deprecations.ts';
import { type Builder, createBuilder } from './builder.ts';
import { type Context, requireWrite } from './context.ts';

/** What a schema is made of. */
export interface SchemaParts {
  /** What reading and changing are about, as the descriptions of Query and Mutation say it: `books`. */
  readonly things: string;
  readonly resources: readonly { readonly defineTypes: (builder: Builder) => void }[];
  readonly deprecations: readonly Deprecation[];
}

/** The schema of a service. Throws an error that stops the start when its parts do not fit together. */
export function createSchema({ things, resources, deprecations }: SchemaParts): GraphQLSchema {
  const builder = createBuilder();
  builder.queryType({ description: `Reading ${things}.` });
  builder.mutationType({ description: `Changing ${things}.` });
  for (const { defineTypes } of resources) defineTypes(builder);
  const schema = builder.toSchema({ sortSchema: false });
  for (const deprecation of deprecations) deprecate(schema, deprecation);
  const mutation = schema.getMutationType();
  if (mutation) guardMutations(mutation);
  return schema;
}

function deprecate(schema: GraphQLSchema, { coordinate, sunset, replacement }: Deprecation): void {
  const [typeName = '', fieldName = ''] = coordinate.split('.');
  const type = schema.getType(typeName);
  const field = type && 'getFields' in type ? type.getFields()[fieldName] : undefined;
  if (!field) throw new Error(`${coordinate}, which is deprecated, is no field of the schema.`);
  field.deprecationReason = `Scheduled for removal on ${longDay(sunset)}; use ${replacement.graphql} instead.`;
}

/**
 * Every field of the Mutation type changes something, so it needs a key that may: nobody has to ask in a resolver. Only such a
 * field can add to a store: not one of Query, which a read-only key may ask for, by GET, too.
 */
function guardMutations(mutation: GraphQLObjectType<unknown, Context>): void {
  for (const field of Object.values(mutation.getFields())) guard(field);
}

function guard(field: GraphQLField<unknown, Context>): void {
  const { resolve, name } = field;
  if (!resolve) throw new Error(`Mutation.${name} has no resolver.`);
  field.resolve = (source, args, context, info) => {
    requireWrite(context.caller);
    context.isChanging = true;
    return resolve(source, args, context, info);
  };
}

/** A schema as text, as it stands in `schema.graphql`. */
export function printedSchema(schema: GraphQLSchema): string {
  return `${printSchema(schema)}\n`;
}
