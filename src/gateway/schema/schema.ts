import { GraphQLEnumType, type GraphQLNamedType, type GraphQLSchema, isObjectType, printSchema } from 'graphql';
import type { AnswerFormat, SelectionPlan } from '../../lib/graphql-plan/graphql-plan.ts';
import { type Deprecation, longDay } from '../deprecations.ts';
import { type AnyKind, type Bounds, KINDS, kindOfScalar } from '../kinds.ts';
import { type Builder, createBuilder } from './builder.ts';

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
  return schema;
}

function deprecate(schema: GraphQLSchema, { coordinate, sunset, replacement }: Deprecation): void {
  const [typeName = '', fieldName = ''] = coordinate.split('.');
  const type = schema.getType(typeName);
  const field = isObjectType(type) ? type.getFields()[fieldName] : undefined; // uses of nothing else are counted
  if (!field) throw new Error(`${coordinate}, which is deprecated, is no field of the schema.`);
  field.deprecationReason = `Scheduled for removal on ${longDay(sunset)}; use ${replacement.graphql} instead.`;
}

/** The deprecations of the fields that a plan has, each once; what is removed first comes first. */
export function deprecationsIn({ fields }: SelectionPlan, deprecations: readonly Deprecation[]): Deprecation[] {
  const found = fields.flatMap(({ parentType, field, selection }) => [
    ...deprecations.filter(({ coordinate }) => coordinate === `${parentType}.${field.name}`),
    ...(selection ? deprecationsIn(selection, deprecations) : []),
  ]);
  return [...new Set(found)].sort((one, other) => one.sunset.getTime() - other.sunset.getTime());
}

/** A schema in SDL, as in `schema.graphql`. */
export function printedSchema(schema: GraphQLSchema): string {
  return `${printSchema(schema)}\n`;
}

/** How GraphQL writes answers. */
export const GRAPHQL_FORMAT: AnswerFormat = { leafWriter: (type) => leafKind(type).writeGraphql, omitsNull: false };

/** How REST writes answers: it omits null properties. */
export const REST_FORMAT: AnswerFormat = { leafWriter: (type) => leafKind(type).write, omitsNull: true };

/** The kind of a leaf type within bounds. Throws Error, which stops the start, for a scalar or enum without a kind. */
export function leafKind(type: GraphQLNamedType, bounds: Bounds = {}): AnyKind {
  const kind = type instanceof GraphQLEnumType ? wordKind(type) : kindOfScalar(type.name, bounds);
  if (kind === undefined) throw new Error(`${type.name} is of no kind that src/gateway/kinds.ts has.`);
  return kind;
}

function wordKind(type: GraphQLEnumType): AnyKind | undefined {
  const values = type.getValues();
  const isOfWords = values.every(({ name, value }) => typeof value === 'string' && value.toUpperCase() === name);
  return isOfWords ? KINDS.word.within({ enum: values.map(({ value }) => value) }) : undefined;
}
