import {
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isIntrospectionType,
  isLeafType,
  isObjectType,
} from 'graphql';
import { LIST_LIMIT } from './page-arguments.ts';

/** What one request may ask for of the objects of a type. */
export interface Weight {
  /** What the objects are called in a message: `books`. */
  readonly things: string;
  /** How many of them: five of the largest pages. */
  readonly mostObjects: number;
  /** How many of their leaves: so many objects as a whole. */
  readonly mostLeaves: number;
}

/** The weight of each object type of a schema. */
export type Weights = ReadonlyMap<GraphQLObjectType, Weight>;

const PAGES = 5;

/** The word by which the objects of a type are counted in messages, for the type's `extensions`; else `TYPE objects`. */
export function countedAs(things: string): { readonly countedAs: string } {
  return { countedAs: things };
}

/** What may be asked for of each type: a type that is added changes no other one's. */
export function weighTypes(schema: GraphQLSchema): Weights {
  const roots: readonly unknown[] = [schema.getQueryType(), schema.getMutationType()];
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  const counted = types.filter((type) => !isIntrospectionType(type) && !roots.includes(type));
  return new Map(counted.map((type) => [type, weigh(type)]));
}

function weigh(type: GraphQLObjectType): Weight {
  const { countedAs: things } = type.extensions as { countedAs?: string }; // see countedAs
  const leaves = Object.values(type.getFields()).filter((field) => isLeafType(getNamedType(field.type)));
  const mostObjects = PAGES * LIST_LIMIT.most;
  return { things: things ?? `${type.name} objects`, mostObjects, mostLeaves: mostObjects * leaves.length };
}
