import { GraphQLEnumType, type GraphQLNamedType } from 'graphql';
import type { AnyKind, Bounds } from '../kinds.ts';
import { leafKind } from '../schema/field-shape.ts';

/** A piece of an OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

/** How the values of a leaf type look in REST: as its kind says, under the name of an enum where it is one. */
export interface Leaf extends AnyKind {
  /** The named schemas that `schema` refers to. */
  readonly components: Json;
}

/** The representation of a leaf type, within bounds. Throws an error that stops the start for a type that has none. */
export function representLeaf(type: GraphQLNamedType, bounds: Bounds = {}): Leaf {
  const kind = leafKind(type, bounds);
  if (!(type instanceof GraphQLEnumType)) return { ...kind, components: {} };
  const component = { ...kind.schema, description: describeEnum(type) };
  return { ...kind, schema: refer(type.name), components: { [type.name]: component } };
}

function describeEnum(type: GraphQLEnumType): string {
  const words = type.getValues().map(({ name, description }) => `\`${name.toLowerCase()}\`: ${description}`);
  return [type.description, ...words].join(' ');
}

/** The schema that refers to a named one. */
export function refer(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}
