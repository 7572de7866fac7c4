import {
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNullableType,
  isIntrospectionType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { leafKind } from './leaf-kind.ts';
import { boundsOf } from './rules.ts';

/** What plans must know of a field of the schema, whatever a document asks of it. */
export interface FieldShape {
  readonly field: GraphQLField<unknown, unknown>;
  readonly parentType: GraphQLObjectType;
  /** The type of the objects that it gives; undefined for a leaf. */
  readonly type: GraphQLObjectType | undefined;
  readonly isNullable: boolean;
  readonly isList: boolean;
  /** Whether an item of its list may be null. */
  readonly isItemNullable: boolean;
  /** The argument that says how many objects a page of it has, and what its rules allow; undefined without pages. */
  readonly page: { readonly name: string; readonly least: number; readonly most: number } | undefined;
  /** Undefined for a field that exposes a property of its object. */
  readonly resolver: GraphQLFieldResolver<unknown, unknown> | undefined;
  /** The property that it exposes, where it has no resolver. */
  readonly property: string;
  /** A leaf other than null as JSON. Throws when the schema does not allow it: that is a fault of ours. */
  writeLeaf(value: unknown): string;
}

/** The shape of every field of a schema. */
export type FieldShapes = ReadonlyMap<GraphQLField<unknown, unknown>, FieldShape>;

/** Looks at every field of a schema. Throws an error that stops the start and names the field that cannot be planned. */
export function shapeFields(schema: GraphQLSchema): FieldShapes {
  const shapes = new Map<GraphQLField<unknown, unknown>, FieldShape>();
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  for (const type of Object.values(schema.getTypeMap()).filter(isObjectType)) {
    if (isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const shape = shapeField(type, field);
      if (roots.includes(type) && shape.resolver === undefined)
        throw new Error(`${type}.${field.name} has no resolver.`);
      shapes.set(field, shape);
    }
  }
  return shapes;
}

function shapeField(parentType: GraphQLObjectType, field: GraphQLField<unknown, unknown>): FieldShape {
  const type: GraphQLOutputType = getNullableType(field.type);
  const isList = isListType(type);
  const content: GraphQLOutputType = isList ? getNullableType(type.ofType) : type;
  const isLeaf = isLeafType(content) && !isList;
  if (!isLeaf && !isObjectType(content)) {
    throw new Error(
      `${parentType}.${field.name} cannot be planned: ${field.type} is no leaf, object or list of objects.`,
    );
  }
  // Pothos marks what merely exposes a property, https://pothos-graphql.dev/docs/guide/fields#exposing-fields
  const exposed: unknown = field.args.length === 0 ? field.extensions.pothosExposedField : undefined;
  return {
    field,
    parentType,
    type: isObjectType(content) ? content : undefined,
    isNullable: !isNonNullType(field.type),
    isList,
    isItemNullable: isList && !isNonNullType(type.ofType),
    page: pageArgument(field),
    resolver: typeof exposed === 'string' ? undefined : field.resolve,
    property: typeof exposed === 'string' ? exposed : field.name, // by its name: GraphQL's default
    writeLeaf: isLeaf ? leafWriter(content, `${parentType}.${field.name}`) : writeNothing,
  };
}

function pageArgument({ args }: GraphQLField<unknown, unknown>): FieldShape['page'] {
  const argument = args.find(({ name }) => name === 'limit' || name === 'first');
  if (argument === undefined) return undefined;
  const { minimum = 0, maximum = Number.POSITIVE_INFINITY } = boundsOf(argument);
  return { name: argument.name, least: Math.max(0, Number(minimum)), most: Number(maximum) };
}

function leafWriter(type: GraphQLLeafType, coordinate: string): FieldShape['writeLeaf'] {
  try {
    return leafKind(type).writeGraphql;
  } catch (error) {
    throw new Error(`${coordinate} cannot be planned: ${error instanceof Error ? error.message : error}`);
  }
}

function writeNothing(): never {
  throw new Error('An object is no leaf.');
}
