import { type GraphQLObjectType, getNullableType, isLeafType, isNonNullType } from 'graphql';
import { leafKind } from './leaf-kind.ts';

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
  const leafType = field && getNullableType(field.type);
  if (typeof property !== 'string' || !isLeafType(leafType)) return undefined;
  return {
    responseName,
    head,
    property,
    isNullable: !isNonNullType(field?.type),
    writeJson: leafKind(leafType).writeGraphql,
  };
}
