import { GraphQLEnumType, type GraphQLNamedType } from 'graphql';
import { type AnyKind, type Bounds, KINDS, kindOfScalar } from '../kinds.ts';

/** The kind that a leaf type is, within bounds. Throws an error that stops the start for a type that is none. */
export function leafKind(type: GraphQLNamedType, bounds: Bounds = {}): AnyKind {
  const kind = type instanceof GraphQLEnumType ? wordKind(type) : kindOfScalar(type.name, bounds);
  if (kind === undefined) throw new Error(`${type.name} is of no kind that src/kinds.ts has.`);
  return kind;
}

function wordKind(type: GraphQLEnumType): AnyKind | undefined {
  const values = type.getValues();
  const isOfWords = values.every(({ name, value }) => typeof value === 'string' && value.toUpperCase() === name);
  return isOfWords ? KINDS.word.within({ enum: values.map(({ value }) => value) }) : undefined;
}
