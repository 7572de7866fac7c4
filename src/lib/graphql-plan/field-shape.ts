import {
  executeRootSelectionSet,
  type GraphQLError,
  type GraphQLField,
  type GraphQLLeafType,
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
import type { CheckArguments } from './planned-arguments.ts';

type Field = GraphQLField<unknown, unknown>;

/**
 * Gives the function that writes the values of a leaf type, other than null, as JSON. That function throws Error for a value
 * that the type does not allow; the field then has an error. Throws Error for a type that it cannot write.
 */
export type LeafWriter = (type: GraphQLLeafType) => (value: unknown) => string;

/** What plans need to know of a field of the schema, whatever the document. */
export type FieldShape = ReturnType<typeof shapeField>;

/** The shapes of all fields of a schema. Throws Error for a field or an object type that cannot be planned. */
export function shapeFields(schema: GraphQLSchema, leafWriter: LeafWriter): ReadonlyMap<Field, FieldShape> {
  const shapes = new Map<Field, FieldShape>();
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  for (const type of Object.values(schema.getTypeMap()).filter(isObjectType)) {
    if (isIntrospectionType(type)) continue;
    if (type.isTypeOf) throw new Error(`${type} cannot be planned: it has isTypeOf, which plans do not call.`);
    for (const field of Object.values(type.getFields())) {
      const shape = shapeField(type, field, leafWriter);
      if (roots.includes(type) && shape.resolver === undefined)
        throw new Error(`${type}.${field.name} has no resolver.`);
      shapes.set(field, shape);
    }
  }
  const query = schema.getQueryType();
  // `__schema` and `__type` are leaves of a plan: their resolver lets graphql-js execute the whole selection.
  if (query)
    for (const field of [SchemaMetaFieldDef, TypeMetaFieldDef])
      shapes.set(field, {
        ...shapeField(query, field, leafWriter),
        type: undefined,
        resolver: introspect,
        writeLeaf: JSON.stringify,
      });
  return shapes;
}

function shapeField(parentType: GraphQLObjectType, field: Field, leafWriter: LeafWriter) {
  const coordinate = `${parentType}.${field.name}`;
  const type: GraphQLOutputType = getNullableType(field.type);
  const isList = isListType(type);
  const content: GraphQLOutputType = isList ? getNullableType(type.ofType) : type;
  const isLeaf = isLeafType(content) && !isList;
  if (!isLeaf && !isObjectType(content))
    throw new Error(`${coordinate} cannot be planned: ${field.type} is no leaf, object or list of objects.`);
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
    /** Undefined for a field that only exposes a property of its object. */
    resolver: typeof exposed === 'string' ? undefined : field.resolve,
    /** The property that a field without a resolver reads: the exposed one, else the field's name. No method is called. */
    property: typeof exposed === 'string' ? exposed : field.name,
    /** What the resolver's arguments must pass. README.md says that it stands here. */
    checkArguments: field.extensions.checkArguments as CheckArguments | undefined,
    /** Writes a leaf other than null as JSON. Throws Error when the schema does not allow the value. */
    writeLeaf: isLeaf ? writerOf(content, coordinate, leafWriter) : JSON.stringify,
  };
}

function writerOf(type: GraphQLLeafType, coordinate: string, leafWriter: LeafWriter) {
  try {
    return leafWriter(type);
  } catch (error) {
    throw new Error(`${coordinate} cannot be planned: ${(error as Error).message}`); // by the contract of LeafWriter
  }
}

/** The errors below a value that graphql-js executed; they are located already. */
export const errorsBelow = new WeakMap<object, readonly GraphQLError[]>();

async function introspect(_object: unknown, _args: unknown, _context: unknown, info: GraphQLResolveInfo) {
  const { schema, operation, fragments, fieldNodes, variableValues, path } = info;
  const selectionSet = { kind: Kind.SELECTION_SET, selections: fieldNodes } as const;
  // The variables are coerced already, so the operation declares none.
  const undeclared = { ...operation, variableDefinitions: [], selectionSet };
  const document = { kind: Kind.DOCUMENT, definitions: [undeclared, ...Object.values(fragments)] } as const;
  const prepared = validateExecutionArgs({ schema, document });
  if (!('schema' in prepared)) throw prepared[0];
  const { data, errors } = await executeRootSelectionSet({ ...prepared, variableValues });
  const value = data?.[path.key];
  if (errors && !value) throw errors[0];
  if (errors) errorsBelow.set(value as object, errors); // `__Schema` and `__Type` are object types
  return value;
}
