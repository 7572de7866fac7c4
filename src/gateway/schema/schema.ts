import { type GraphQLObjectType, type GraphQLSchema, printSchema, type ValidationRule } from 'graphql';
import { type Deprecation, deprecationOf, longDay } from '../deprecations.ts';
import { requireWrite } from '../keys/caller.ts';
import { type Builder, createBuilder } from './builder.ts';
import type { Context } from './context.ts';

/** The parts of a service that its schema is made from. */
interface SchemaParts {
  /** The plural noun of the service's objects, such as `books`, for the descriptions of Query and Mutation. */
  readonly plural: string;
  readonly resources: readonly { readonly defineTypes: (builder: Builder) => void }[];
  readonly deprecations: readonly Deprecation[];
}

/** Creates the schema of a service. Throws Error, which stops the start, when its parts do not fit together. */
export function createSchema({ plural, resources, deprecations }: SchemaParts): GraphQLSchema {
  const builder = createBuilder();
  builder.queryType({ description: `Reading ${plural}.` });
  builder.mutationType({ description: `Changing ${plural}.` });
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

/** A validation rule that reports no errors: it adds the deprecations of the selected fields to `found`. */
export function noteDeprecations(deprecations: readonly Deprecation[], found: Set<Deprecation>): ValidationRule {
  return (context) => ({
    Field() {
      const coordinate = `${context.getParentType()?.name}.${context.getFieldDef()?.name}`;
      const deprecation = deprecationOf(deprecations, coordinate);
      if (deprecation !== undefined) found.add(deprecation);
    },
  });
}

/**
 * Wraps the resolver of every field of Mutation: it refuses read-only keys, then hands over stores that change rows. So no resolver
 * has to check rights. No other field gets such a store: read-only keys and GET may select those of Query.
 */
function guardMutations(mutation: GraphQLObjectType<unknown, Context>): void {
  for (const field of Object.values(mutation.getFields())) {
    const { resolve, name } = field;
    if (!resolve) throw new Error(`Mutation.${name} has no resolver.`);
    field.resolve = (source, args, context, info) => {
      requireWrite(context.caller);
      return resolve(source, args, context.forMutation(), info);
    };
  }
}

/** A schema in SDL, as in `schema.graphql`. */
export function printedSchema(schema: GraphQLSchema): string {
  return `${printSchema(schema)}\n`;
}
