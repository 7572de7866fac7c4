import {
  GraphQLEnumType,
  GraphQLID,
  GraphQLInt,
  type GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLString,
  getNullableType,
  isNonNullType,
} from 'graphql';

/** A leaf of an object: the property it is exposed from, and how its value is written as JSON. */
export interface LeafPlan {
  readonly responseName: string;
  /** What stands before its value in the JSON of its object, such as `{"id":` or `,"name":`. */
  readonly head: string;
  /** Undefined for `__typename`, which is the same for every object. */
  readonly property: string | undefined;
  readonly isNullable: boolean;
  /** A value other than null as JSON. Throws when the schema does not allow it: that is a fault of ours. */
  writeJson(value: unknown): string;
}

/** The plan of a field of `type`, or undefined when more than a property has to be read for it. */
export function planLeaf(
  type: GraphQLObjectType,
  responseName: string,
  fieldName: string,
  head: string,
): LeafPlan | undefined {
  if (fieldName === '__typename') {
    return { responseName, head, property: undefined, isNullable: false, writeJson: () => `"${type.name}"` };
  }
  const field = type.getFields()[fieldName];
  // Pothos marks what merely exposes a property, https://pothos-graphql.dev/docs/guide/fields#exposing-fields
  const property: unknown = field?.extensions.pothosExposedField;
  const writeJson = field && leafWriter(getNullableType(field.type));
  if (typeof property !== 'string' || !writeJson) return undefined;
  return { responseName, head, property, isNullable: !isNonNullType(field.type), writeJson };
}

function leafWriter(type: GraphQLOutputType): LeafPlan['writeJson'] | undefined {
  if (type === GraphQLID) return (id) => `"${id}"`; // an Int64: digits need no escaping
  if (type === GraphQLString) return JSON.stringify;
  if (type === GraphQLInt) return writeInt;
  if (!(type instanceof GraphQLEnumType)) return undefined;
  const words = new Map(type.getValues().map(({ name, value }) => [value, `"${name}"`]));
  return (value) => {
    const word = words.get(value);
    if (word === undefined) throw new Error(`A resolver gave a value that ${type.name} does not have.`);
    return word;
  };
}

/** https://spec.graphql.org/September2025/#sec-Int.Result-Coercion */
function writeInt(value: unknown): string {
  if (typeof value !== 'number' || (value | 0) !== value) throw new Error('A resolver gave a value that is no Int.');
  return String(value);
}
