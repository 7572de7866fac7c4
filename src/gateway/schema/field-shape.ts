import {
  executeRootSelectionSet,
  GraphQLEnumType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNullableType,
  isIntrospectionType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  validateExecutionArgs,
} from 'graphql';
import { type AnyKind, type Bounds, KINDS, kindOfScalar } from '../kinds.ts';
import { boundsOf } from './rules.ts';

type Field = GraphQLField<unknown, unknown>;

/** What plans need to know of a field of the schema, whatever the document. */
export type FieldShape = ReturnType<typeof shapeField>;

/** The shapes of all fields of a schema. Throws Error, which stops the start, for a field that cannot be planned. */
export function shapeFields(schema: GraphQLSchema): ReadonlyMap<Field, FieldShape> {
  const shapes = new Map<Field, FieldShape>();
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
  const query = schema.getQueryType();
  // `__schema` and `__type` are leaves of a plan: their resolver lets graphql-js execute the whole selection.
  if (query)
    for (const field of [SchemaMetaFieldDef, TypeMetaFieldDef])
      shapes.set(field, { ...shapeField(query, field), type: undefined, resolver: introspect });
  return shapes;
}

function shapeField(parentType: GraphQLObjectType, field: Field) {
  const type: GraphQLOutputType = getNullableType(field.type);
  const isList = isListType(type);
  const content: GraphQLOutputType = isList ? getNullableType(type.ofType) : type;
  const isLeaf = isLeafType(content) && !isList;
  if (!isLeaf && !isObjectType(content)) {
    throw new Error(
      `${parentType}.${field.name} cannot be planned: ${field.type} is no leaf, object or list of objects.`,
    );
  }
  // Pothos marks fields that only expose a property, https://pothos-graphql.dev/docs/guide/fields#exposing-fields
  const exposed: unknown = field.args.length === 0 ? field.extensions.pothosExposedField : undefined;
  return {
    field,
    parentType,
    /** The object type of its value or list items; undefined for a leaf. */
    type: isObjectType(content) ? content : undefined,
    isNullable: !isNonNullType(field.type),
    isList,
    /** Whether its list items may be null. */
    isItemNullable: isList && !isNonNullType(type.ofType),
    /** The page-size argument with its maximum; undefined for a field without one. */
    page: pageSizeOf(field),
    /** Undefined for a field that only exposes a property of its object. */
    resolver: typeof exposed === 'string' ? undefined : field.resolve,
    /** The property that a field without a resolver reads: the exposed one, else the field's name as in GraphQL's default resolver. */
    property: typeof exposed === 'string' ? exposed : field.name,
    /** The kind of a leaf; undefined for objects. */
    kind: isLeaf ? kindOf(content, `${parentType}.${field.name}`) : undefined,
  };
}

function pageSizeOf({ args }: Field) {
  const argument = args.find(({ name }) => name === 'limit' || name === 'first');
  return argument && { name: argument.name, max: Number(boundsOf(argument).maximum ?? Number.POSITIVE_INFINITY) };
}

function kindOf(type: GraphQLNamedType, coordinate: string): AnyKind {
  try {
    return leafKind(type);
  } catch (error) {
    throw new Error(`${coordinate} cannot be planned: ${(error as Error).message}`); // leafKind throws nothing else
  }
}

async function introspect(_object: unknown, _args: unknown, _context: unknown, info: GraphQLResolveInfo) {
  const { schema, operation, fragments, fieldNodes, variableValues, path } = info;
  const selectionSet = { kind: Kind.SELECTION_SET, selections: fieldNodes } as const;
  // The variables are coerced already, so the operation declares none.
  const undeclared = { ...operation, variableDefinitions: [], selectionSet };
  const document = { kind: Kind.DOCUMENT, definitions: [undeclared, ...Object.values(fragments)] } as const;
  const prepared = validateExecutionArgs({ schema, document });
  if (!('schema' in prepared)) throw prepared[0];
  const { data, errors } = await executeRootSelectionSet({ ...prepared, variableValues });
  if (errors) throw errors[0];
  return data?.[path.key];
}

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
